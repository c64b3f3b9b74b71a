// Runs of elements made from the words of a stream, and stored.
#pragma once

#include "bounds.cuh"
#include "draw.cuh"

namespace gb {

// Makes the words of each run of this share, has `mix(words)` prepare them, and `make(words, i)` turn them into elements.
template <class E, uint32_t BYTES, class Mix, class Make>
GB_INLINE void each_element(const gb_fill_args &a, const Share share, Mix mix, Make make) {
  typedef Run<E, BYTES> R;
  typedef typename E::Bits Bits;
  Bits *const out = (Bits *)a.out;
  const Stream stream = {a.key, a.tensor, STREAM_FILL};
  uint64_t run = share.first;
#if !defined(__GPUBENCH_CPU__)
  const uint64_t whole = (uint64_t)out % 16 == 0 ? a.len / R::LENGTH : 0;
  const uint64_t step = kept(share.step);
  while (run < whole) {
    const uint64_t upper = run * R::BLOCKS >> 32, end = least(whole, ((upper + 1) << 32) / R::BLOCKS);
    const Rounds rounds = Rounds::of(stream, (uint32_t)upper);
    for (; run < end; run += step) {
      uint32_t words[4 * R::BLOCKS];
      GB_UNROLL for (uint32_t j = 0; j < R::BLOCKS; ++j) rounds.block((uint32_t)run * R::BLOCKS + j, words + 4 * j);
      mix(words);
      store_whole<E, R::LENGTH>(out + run * R::LENGTH, [&](uint32_t i) GB_LAMBDA { return make(words, i); });
    }
  }
#endif
  for (const uint64_t runs = pieces(a.len, R::LENGTH); run < runs; run += share.step) {
    uint32_t words[4 * R::BLOCKS];
    random_words<R::BLOCKS>(stream, run * R::BLOCKS, words);
    mix(words);
    const uint32_t n = (uint32_t)least(R::LENGTH, a.len - run * R::LENGTH);
    store_some<E, R::LENGTH>(out + run * R::LENGTH, n, [&](uint32_t i) GB_LAMBDA { return make(words, i); });
  }
}

template <class E, uint32_t BYTES, class Make>
GB_INLINE void each_element(const gb_fill_args &a, const Share share, Make make) {
  each_element<E, BYTES>(a, share, [](uint32_t *) GB_LAMBDA {}, make);
}

#define GB_MAKE [&](const uint32_t *words, uint32_t i) GB_LAMBDA -> typename Stored<E>::Made
#define GB_MIX [&](uint32_t *words) GB_LAMBDA

}  // namespace gb
