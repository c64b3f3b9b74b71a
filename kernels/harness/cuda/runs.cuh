// Runs of elements: made from the words of a stream, and stored.
#pragma once

#include "bounds.cuh"
#include "draw.cuh"
#include "stored.cuh"

namespace gb {

// The part of a tensor that a thread makes, and the draws that it uses.
struct Task {
  Share share;
  Stream stream;
#if !defined(__GPUBENCH_CPU__)
  RoundKeys keys;
#endif

  static GB_INLINE Task of(const gb_fill_args &a, const Share share) {
    const Stream stream = {a.key, a.tensor, STREAM_FILL};
#if !defined(__GPUBENCH_CPU__)
    return Task{Share{share.first, kept(share.step)}, stream, RoundKeys::of(stream)};
#else
    return Task{share, stream};
#endif
  }
};

// Makes the words of each run of the task and prepares them with `mix(words)`. `make(words, i)`
// turns them into elements; without it they are stored as they are.
template <class E, uint32_t BYTES, class Mix, class Make>
GB_INLINE void each_element(const gb_fill_args &a, const Task &task, Mix mix, Make make) {
  typedef Run<E, BYTES> R;
  typedef typename E::Bits Bits;
  typedef Store<E, R::LENGTH, Make> Stores;
  Bits *const out = (Bits *)a.out;
  uint64_t run = task.share.first;
#if !defined(__GPUBENCH_CPU__)
  const uint64_t whole = (uint64_t)out % 16 == 0 ? a.len / R::LENGTH : 0;
  while (run < whole) {
    // While the upper word of the block indices stays the same, much of the first rounds does too.
    const uint64_t high = run * R::BLOCKS >> 32, end = least(whole, ((high + 1) << 32) / R::BLOCKS);
    for (; run < end; run += task.share.step) {
      uint32_t words[4 * R::BLOCKS];
      GB_UNROLL for (uint32_t j = 0; j < R::BLOCKS; ++j) {
        task.keys.block(task.stream, (uint32_t)high, (uint32_t)run * R::BLOCKS + j, words + 4 * j);
      }
      mix(words);
      Stores::whole(out + run * R::LENGTH, words, make);
    }
  }
#endif
  for (const uint64_t runs = pieces(a.len, R::LENGTH); run < runs; run += task.share.step) {
    uint32_t words[4 * R::BLOCKS];
    random_words<R::BLOCKS>(task.stream, run * R::BLOCKS, words);
    mix(words);
    const uint32_t n = (uint32_t)least(R::LENGTH, a.len - run * R::LENGTH);
    Stores::some(out + run * R::LENGTH, n, words, make);
  }
}

template <class E, uint32_t BYTES, class Make>
GB_INLINE void each_element(const gb_fill_args &a, const Task &task, Make make) {
  each_element<E, BYTES>(a, task, [](uint32_t *) GB_LAMBDA {}, make);
}

#define GB_MAKE [&](const uint32_t *words, uint32_t i) GB_LAMBDA -> typename Stored<E>::Made
#define GB_MIX [&](uint32_t *words) GB_LAMBDA

}  // namespace gb
