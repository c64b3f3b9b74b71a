// Philox4x32-7, a keyed counter-based generator: Salmon, Moraes, Dror, Shaw, "Parallel random
// numbers: as easy as 1, 2, 3", SC 2011. A block of 16 bytes is a function of its counter and the
// key alone, so any thread can make it.
//
// Seven rounds are the fewest that pass BigCrush, and the paper recommends them for speed. A round
// is two wide multiplications, which a GPU's schedulers start once in four cycles. Storing the 512
// bytes of a warp takes memory 120 cycles. Ten rounds keep the schedulers busy for 80 of them,
// seven for 56, which leaves room to turn the bits into elements.
#pragma once

#include "work.cuh"

#if defined(__GPUBENCH_CPU__) && defined(__x86_64__) && !defined(GB_BASELINE)
#define GB_PHILOX_AVX2
#include <immintrin.h>
#endif

namespace gb {

constexpr uint32_t PHILOX_BYTES = 16;
// Philox blocks of one run.
constexpr uint32_t BATCH = GB_RUN_BYTES / PHILOX_BYTES;
// 32-bit words of one run.
constexpr uint32_t BATCH_WORDS = 4 * BATCH;

constexpr int PHILOX_ROUNDS = 7;

// The purpose of a stream: the highest word of the counter.
constexpr uint32_t STREAM_FILL = 0;
constexpr uint32_t STREAM_NOISE = 1;

// One stream of random blocks.
struct Stream {
  uint64_t key;
  uint32_t tensor;
  uint32_t purpose;
};

// One round on a block.
GB_INLINE void philox_round(uint32_t c[4], uint32_t k0, uint32_t k1) {
  const uint64_t p0 = (uint64_t)0xd2511f53u * c[0], p1 = (uint64_t)0xcd9e8d57u * c[2];
  c[0] = (uint32_t)(p1 >> 32) ^ c[1] ^ k0;
  c[1] = (uint32_t)p1;
  c[2] = (uint32_t)(p0 >> 32) ^ c[3] ^ k1;
  c[3] = (uint32_t)p0;
}

// One block of a stream.
GB_INLINE void random_block(const Stream &stream, uint64_t index, uint32_t *words) {
  uint32_t c[4] = {(uint32_t)index, (uint32_t)(index >> 32), stream.tensor, stream.purpose};
  uint32_t k0 = (uint32_t)stream.key, k1 = (uint32_t)(stream.key >> 32);
  GB_UNROLL for (int round = 0; round < PHILOX_ROUNDS; ++round) {
    philox_round(c, k0, k1);
    k0 += 0x9e3779b9u;
    k1 += 0xbb67ae85u;
  }
  GB_UNROLL for (uint32_t i = 0; i < 4; ++i) words[i] = c[i];
}

#if !defined(__GPUBENCH_CPU__)
// The keys of a stream's rounds, for a thread that makes many blocks.
struct RoundKeys {
  uint32_t keys[2 * PHILOX_ROUNDS];

  static GB_INLINE RoundKeys of(const Stream &stream) {
    RoundKeys rounds;
    GB_UNROLL for (uint32_t r = 0; r < PHILOX_ROUNDS; ++r) {
      rounds.keys[2 * r] = kept((uint32_t)stream.key + r * 0x9e3779b9u);
      rounds.keys[2 * r + 1] = kept((uint32_t)(stream.key >> 32) + r * 0xbb67ae85u);
    }
    return rounds;
  }
  GB_INLINE void block(const Stream &stream, uint32_t index_high, uint32_t index_low, uint32_t *words) const {
    uint32_t c[4] = {index_low, index_high, stream.tensor, stream.purpose};
    GB_UNROLL for (uint32_t r = 0; r < PHILOX_ROUNDS; ++r) philox_round(c, keys[2 * r], keys[2 * r + 1]);
    GB_UNROLL for (uint32_t i = 0; i < 4; ++i) words[i] = c[i];
  }
};
#endif

// Blocks `first` to `first + BLOCKS` of a stream.
template <uint32_t BLOCKS = BATCH>
GB_INLINE void random_words_portably(const Stream &stream, uint64_t first, uint32_t *words) {
  GB_LANES for (uint32_t j = 0; j < BLOCKS; ++j) random_block(stream, first + j, words + 4 * j);
}

#if defined(GB_PHILOX_AVX2)
// The same, four blocks in a vector and two vectors at a time. Compilers do not find the
// instruction that multiplies the low halves of 64-bit lanes and ignores their high halves.
struct PhiloxVector {
  __m256i c[4];
};

__attribute__((target("avx2"), always_inline)) inline void philox_round(PhiloxVector &v, uint32_t k0, uint32_t k1) {
  const __m256i p0 = _mm256_mul_epu32(_mm256_set1_epi64x(0xd2511f53u), v.c[0]);
  const __m256i p1 = _mm256_mul_epu32(_mm256_set1_epi64x(0xcd9e8d57u), v.c[2]);
  v.c[0] = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(p1, 32), v.c[1]), _mm256_set1_epi64x(k0));
  v.c[1] = p1;
  v.c[2] = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(p0, 32), v.c[3]), _mm256_set1_epi64x(k1));
  v.c[3] = p0;
}

__attribute__((target("avx2"), always_inline)) inline PhiloxVector philox_counters(const Stream &stream, uint64_t first) {
  const __m256i counters = _mm256_add_epi64(_mm256_set1_epi64x((long long)first), _mm256_set_epi64x(3, 2, 1, 0));
  return PhiloxVector{{counters, _mm256_srli_epi64(counters, 32), _mm256_set1_epi64x(stream.tensor),
                       _mm256_set1_epi64x(stream.purpose)}};
}

__attribute__((target("avx2"), always_inline)) inline void philox_store(const PhiloxVector &v, uint32_t *words) {
  const __m256i low = _mm256_set1_epi64x(0xffffffffu);
  const __m256i front = _mm256_or_si256(_mm256_and_si256(v.c[0], low), _mm256_slli_epi64(v.c[1], 32));
  const __m256i back = _mm256_or_si256(_mm256_and_si256(v.c[2], low), _mm256_slli_epi64(v.c[3], 32));
  const __m256i even = _mm256_unpacklo_epi64(front, back), odd = _mm256_unpackhi_epi64(front, back);
  _mm256_storeu_si256((__m256i *)words, _mm256_permute2x128_si256(even, odd, 0x20));
  _mm256_storeu_si256((__m256i *)(words + 8), _mm256_permute2x128_si256(even, odd, 0x31));
}

__attribute__((target("avx2"), noinline)) static void random_words_avx2(const Stream &stream, uint64_t first,
                                                                        uint32_t *words) {
  for (uint32_t j = 0; j < BATCH; j += 8) {
    PhiloxVector one = philox_counters(stream, first + j), two = philox_counters(stream, first + j + 4);
    uint32_t k0 = (uint32_t)stream.key, k1 = (uint32_t)(stream.key >> 32);
    GB_UNROLL for (int round = 0; round < PHILOX_ROUNDS; ++round) {
      philox_round(one, k0, k1);
      philox_round(two, k0, k1);
      k0 += 0x9e3779b9u;
      k1 += 0xbb67ae85u;
    }
    philox_store(one, words + 4 * j);
    philox_store(two, words + 4 * j + 16);
  }
}
#endif

template <uint32_t BLOCKS = BATCH>
GB_INLINE void random_words(const Stream stream, uint64_t first, uint32_t *words) {
#if defined(GB_PHILOX_AVX2)
  if (__builtin_cpu_supports("avx2")) {
    random_words_avx2(stream, first, words);
    return;
  }
#endif
  random_words_portably<BLOCKS>(stream, first, words);
}

}  // namespace gb
