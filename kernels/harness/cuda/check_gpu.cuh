// `gb_check` on a GPU. A warp goes through a tile together. It first only counts the good elements
// of a run, in the registers that the run was loaded to. It uses doubles only where exactness needs
// them, because most GPUs have few units for them.
#pragma once

#include "judge.cuh"
#include "permutation.cuh"

namespace gb {

constexpr uint64_t CHECK_TILE_BYTES = 4096;
constexpr uint32_t RUN_WORDS = GB_RUN_BYTES / 4;
// Runs of each of the two tensors that a thread loads before it compares the first.
constexpr uint32_t RUNS_TOGETHER = 4;

// The state that changes with every run. It is separate from the partial so that it stays in
// registers.
struct Tally {
  uint64_t checked;
  uint64_t matched;
  uint64_t same_as_first;
};

// Bits of the largest errors that a thread of the block has reported. Doubles that are not negative
// sort like their bits.
struct Largest {
  unsigned long long abs;
  unsigned long long rel;
};

template <class E, bool FLOATING = E::FLOATING>
struct FromRaw;
template <class E>
struct FromRaw<E, true> {
  static GB_INLINE typename E::Bits bits(uint64_t raw) { return E::of_raw((typename E::Raw)raw); }
};
template <class E>
struct FromRaw<E, false> {
  static GB_INLINE typename E::Bits bits(uint64_t raw) { return (typename E::Bits)raw; }
};

template <class E>
GB_INLINE typename E::Bits element_of(const uint32_t *words, uint32_t i) {
  constexpr uint32_t SIZE = sizeof(typename E::Bits);
  if (SIZE == 8) return FromRaw<E>::bits(words[i * 2 % RUN_WORDS] | (uint64_t)words[(i * 2 + 1) % RUN_WORDS] << 32);
  return FromRaw<E>::bits(words[i * SIZE / 4 % RUN_WORDS] >> (8 * (i * SIZE % 4)));
}

// The error up to which an element needs no report: within the rule, and not above the largest
// errors reported so far.
template <class E, bool IN_FLOAT = (E::FLOATING ? sizeof(typename E::Bits) <= 4 : sizeof(typename E::Bits) <= 2)>
struct Limits;

// Computed in float and rounded down throughout, so that an element within these limits is also
// within the limits in double. The difference of two floats is exact if they are less than a factor
// of two apart. If they are farther apart, the element is compared again.
template <class E>
struct Limits<E, true> {
  float rtol, atol, abs, rel;
  GB_INLINE Limits(const gb_check_args &a, const volatile Largest *largest) {
    rtol = __double2float_rd(a.rtol);
    atol = __double2float_rd(a.atol);
    abs = __double2float_rd(double_of(largest->abs));
    rel = __double2float_rd(double_of(largest->rel));
    if (E::FLOATING) rel = fminf(rel, 0.5f);
  }
  GB_INLINE bool include(typename E::Bits got, typename E::Bits expected) const {
    const float e = E::real(expected), distance = fabsf(E::real(got) - e), magnitude = fabsf(e);
    const float tolerated = __fadd_rd(atol, __fmul_rd(rtol, magnitude));
    return distance <= fminf(fminf(tolerated, abs), __fmul_rd(rel, magnitude));
  }
};

template <class E>
struct Limits<E, false> {
  double rtol, atol, abs, rel;
  GB_INLINE Limits(const gb_check_args &a, const volatile Largest *largest) {
    rtol = a.rtol;
    atol = a.atol;
    abs = double_of(largest->abs);
    rel = double_of(largest->rel);
  }
  GB_INLINE bool include(typename E::Bits got, typename E::Bits expected) const {
    const double distance = Rule<E>::distance(got, expected), magnitude = Rule<E>::magnitude(expected);
    // Rounding to nearest may double a product below the normal numbers.
    const double tolerated = atol + rtol * magnitude, relative = __dmul_rd(rel, magnitude);
    return (distance <= tolerated) & (distance <= abs) & (distance <= relative);
  }
};

// Whether a run is correct and needs no report. Equal bits are always correct.
template <class E>
GB_INLINE bool plain_run(const gb_check_args &a, const Limits<E> &limits, const uint32_t *got, const uint32_t *expected) {
  bool equal = true;
  GB_UNROLL for (uint32_t i = 0; i < RUN_WORDS; ++i) equal &= got[i] == expected[i];
  if (equal || a.mode == GB_CHECK_EXACT) return equal;
  bool plain = true;
  GB_UNROLL for (uint32_t i = 0; i < GB_RUN_BYTES / sizeof(typename E::Bits); ++i) {
    plain &= limits.include(element_of<E>(got, i), element_of<E>(expected, i));
  }
  return plain;
}

// The bits of one element, repeated.
template <class E>
GB_INLINE uint64_t repeated(typename E::Raw raw) {
  constexpr uint32_t SIZE = sizeof(typename E::Bits);
  const uint64_t factor = SIZE == 1 ? 0x0101010101010101ull : SIZE == 2 ? 0x0001000100010001ull : SIZE == 4 ? 0x100000001ull : 1;
  // A negative number would be sign-extended to all 64 bits.
  return ((uint64_t)raw & ~0ull >> (64 - 8 * SIZE)) * factor;
}

template <class E>
GB_INLINE uint32_t count_same(const uint32_t *got, uint64_t pattern) {
  const uint32_t low = (uint32_t)pattern, high = (uint32_t)(pattern >> 32);
  uint32_t same = 0;
  GB_UNROLL for (uint32_t i = 0; i < RUN_WORDS; i += 2) {
    switch (sizeof(typename E::Bits)) {
      case 1: same += (__popc(__vcmpeq4(got[i], low)) + __popc(__vcmpeq4(got[i + 1], low))) / 8; break;
      case 2: same += (__popc(__vcmpeq2(got[i], low)) + __popc(__vcmpeq2(got[i + 1], low))) / 16; break;
      case 4: same += (got[i] == low) + (got[i + 1] == low); break;
      default: same += (got[i] == low) & (got[i + 1] == high); break;
    }
  }
  return same;
}

template <class E>
GB_RARE void describe_run(const gb_check_args &a, uint64_t start, uint32_t n, Largest *largest, gb_check_partial &partial) {
  typedef typename E::Bits Bits;
  describe_piece<E>(a, start, (const Bits *)a.got + start, (const Bits *)a.expected + start, n, partial);
  atomicMax(&largest->abs, (unsigned long long)bits_of(partial.max_abs));
  atomicMax(&largest->rel, (unsigned long long)bits_of(partial.max_rel));
}

// A tile that is not aligned, or not a whole number of runs for every member of the team.
template <class E>
GB_INLINE void check_odd_tile(const gb_check_args &a, uint64_t start, uint64_t end, const Team &team, Largest *largest,
                              Tally &tally, gb_check_partial &partial) {
  constexpr uint32_t ELEMENTS = GB_RUN_BYTES / sizeof(typename E::Bits);
  const typename E::Bits *got = (const typename E::Bits *)a.got;
  for (uint64_t run = start + team.member * ELEMENTS; run < end; run += team.members * ELEMENTS) {
    const uint32_t n = (uint32_t)least(ELEMENTS, end - run);
    tally.checked += n;
    GB_ONE_BY_ONE for (uint32_t i = 0; i < n; ++i) tally.same_as_first += E::raw(got[run + i]) == E::raw(got[0]);
    describe_run<E>(a, run, n, largest, partial);
  }
}

template <class E>
GB_INLINE void check_whole_tile(const gb_check_args &a, uint64_t start, uint64_t pattern, uint32_t lane, Largest *largest,
                                Tally &tally, gb_check_partial &partial) {
  typedef typename E::Bits Bits;
  constexpr uint32_t ELEMENTS = GB_RUN_BYTES / sizeof(Bits);
  const uint4 *got = (const uint4 *)((const Bits *)a.got + start) + lane;
  const uint4 *expected = (const uint4 *)((const Bits *)a.expected + start) + lane;
  GB_ONE_BY_ONE for (uint32_t run = 0; run < CHECK_TILE_BYTES / GB_RUN_BYTES; run += RUNS_TOGETHER * TEAM_THREADS) {
    uint4 g[RUNS_TOGETHER], e[RUNS_TOGETHER];
    GB_UNROLL for (uint32_t i = 0; i < RUNS_TOGETHER; ++i) {
      g[i] = got[run + i * TEAM_THREADS];
      e[i] = expected[run + i * TEAM_THREADS];
    }
    const Limits<E> limits(a, largest);
    uint32_t plain = 0, same = 0;
    GB_UNROLL for (uint32_t i = 0; i < RUNS_TOGETHER; ++i) {
      const uint32_t g_words[] = {g[i].x, g[i].y, g[i].z, g[i].w}, e_words[] = {e[i].x, e[i].y, e[i].z, e[i].w};
      same += count_same<E>(g_words, pattern);
      plain |= (uint32_t)plain_run<E>(a, limits, g_words, e_words) << i;
    }
    tally.checked += RUNS_TOGETHER * ELEMENTS;
    tally.same_as_first += same;
    tally.matched += __popc(plain) * ELEMENTS;
    for (uint32_t rest = ~plain & ((1u << RUNS_TOGETHER) - 1); rest != 0; rest &= rest - 1) {
      const uint32_t i = __ffs((int)rest) - 1;
      describe_run<E>(a, start + (uint64_t)(run + i * TEAM_THREADS + lane) * ELEMENTS, ELEMENTS, largest, partial);
    }
  }
}

template <class E>
GB_INLINE void check_tiles(const gb_check_args &a, const Team &team, const Permutation &order, Largest *largest,
                           gb_check_partial &partial) {
  constexpr uint64_t TILE_ELEMENTS = CHECK_TILE_BYTES / sizeof(typename E::Bits);
  const uint64_t tiles = pieces(a.len, TILE_ELEMENTS);
  const uint64_t pattern = repeated<E>(E::raw(*(const typename E::Bits *)a.got));
  const bool aligned = ((a.got | a.expected) & 15) == 0 && team.members == TEAM_THREADS;
  Tally tally = {0, 0, 0};
  for (uint64_t k = team.tiles.first; k < tiles; k += team.tiles.step) {
    const uint64_t start = permuted(order, k) * TILE_ELEMENTS;
    if (aligned && a.len - start >= TILE_ELEMENTS) {
      check_whole_tile<E>(a, start, pattern, team.member, largest, tally, partial);
    } else {
      check_odd_tile<E>(a, start, least(a.len, start + TILE_ELEMENTS), team, largest, tally, partial);
    }
  }
  partial.checked += tally.checked;
  partial.matched += tally.matched;
  partial.same_as_first += tally.same_as_first;
}

GB_INLINE void check_share(const gb_check_args &a, const Share share, gb_check_partial &partial) {
  __shared__ Largest largest;
  __shared__ Permutation order;
  if (thread_in_block() == 0) {
    largest = Largest{0, 0};
    order = permutation_of(pieces(a.len, CHECK_TILE_BYTES / element_bytes(a.dtype)), a.order_key);
  }
  __syncthreads();
  const Team team = team_of(share);
#define GB_CHECK(E) check_tiles<E>(a, team, order, &largest, partial)
  GB_FOR_COMPARED_DTYPE(a.dtype, GB_CHECK)
#undef GB_CHECK
}

}  // namespace gb
