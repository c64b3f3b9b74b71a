// `gb_check`: compares every element of an output with the expected one, tiles in the order of a keyed permutation.
//
// A run is first only counted, in loops that become vectors. What describes an error (where, how large, what kind) is
// worked out one by one, and only for runs that have something to say.
#pragma once

#include "element.cuh"
#include "noise.cuh"
#include "permutation.cuh"

namespace gb {

constexpr uint64_t CHECK_TILE_BYTES = 4096;
constexpr uint64_t RUNS_PER_TILE = CHECK_TILE_BYTES / GB_RUN_BYTES;
// The rule, and the error, for one pair of elements.
struct Judged {
  bool right;
  // Whether both are finite: only then is the error a number.
  bool finite;
  bool got_finite;
  double error;
  double magnitude;
};

template <class E, bool FLOATING = E::FLOATING>
struct Rule;

template <class E>
struct Rule<E, true> {
  typedef typename E::Bits Bits;
  static GB_INLINE bool exact(Bits got, Bits expected) {
    const typename E::Real g = E::real(got), e = E::real(expected);
    return (g == e) | ((g != g) & (e != e));
  }
  static GB_INLINE double magnitude(Bits expected) { return fabs((double)E::real(expected)); }
  static GB_INLINE double distance(Bits got, Bits expected) {
    return fabs((double)E::real(got) - (double)E::real(expected));
  }
  static GB_INLINE Judged close(Bits got, Bits expected, double rtol, double atol) {
    const double g = (double)E::real(got), e = (double)E::real(expected);
    const double magnitude = fabs(e), distance = fabs(g - e);
    const bool got_finite = fabs(g) <= DOUBLE_MAX, finite = got_finite & (magnitude <= DOUBLE_MAX);
    const bool right = (finite & (distance <= atol + rtol * magnitude)) | (g == e) | ((g != g) & (e != e));
    // The difference of two finite doubles may overflow.
    const double error = distance <= DOUBLE_MAX ? distance : DOUBLE_MAX;
    return Judged{right, finite, got_finite, finite ? error : 0.0, magnitude};
  }
};

template <class E>
struct Rule<E, false> {
  typedef typename E::Bits Bits;
  static GB_INLINE bool exact(Bits got, Bits expected) { return got == expected; }
  static GB_INLINE double magnitude(Bits expected) { return fabs((double)expected); }
  static GB_INLINE double distance(Bits got, Bits expected) { return E::distance(got, expected); }
  static GB_INLINE Judged close(Bits got, Bits expected, double rtol, double atol) {
    const double distance = E::distance(got, expected), magnitude = fabs((double)expected);
    const bool right = (distance <= atol + rtol * magnitude) | (got == expected);
    return Judged{right, true, true, distance, magnitude};
  }
};

template <class E>
GB_INLINE Judged judge(const gb_check_args &a, typename E::Bits got, typename E::Bits expected) {
  Judged judged = Rule<E>::close(got, expected, a.rtol, a.atol);
  if (a.mode == GB_CHECK_EXACT) judged.right = Rule<E>::exact(got, expected);
  return judged;
}

template <class E>
GB_INLINE uint32_t count_same(const typename E::Bits *got, typename E::Bits first, uint32_t n) {
  uint32_t same = 0;
  GB_EACH(i, n, GB_RUN_BYTES / sizeof(typename E::Bits)) same += E::raw(got[i]) == E::raw(first);
  return same;
}

// Elements that are right and have nothing to report. Where all are equal there is no error.
template <class E>
GB_INLINE uint32_t plain_if_exact(const typename E::Bits *got, const typename E::Bits *expected, uint32_t n) {
  uint32_t plain = 0;
  GB_EACH(i, n, GB_RUN_BYTES / sizeof(typename E::Bits)) plain += Rule<E>::exact(got[i], expected[i]);
  return plain;
}

// One bound for the rule and for both of the largest errors so far, so that most runs need one comparison an element. What is
// not finite never is within it, as `max_abs` is finite.
template <class E>
GB_INLINE uint32_t plain_if_close(const typename E::Bits *got, const typename E::Bits *expected, uint32_t n, double rtol,
                                  double atol, double max_abs, double max_rel) {
  // As wide as what is compared: vectors then need no conversion of masks.
  uint64_t plain = 0;
  GB_EACH(i, n, GB_RUN_BYTES / sizeof(typename E::Bits)) {
    const double magnitude = Rule<E>::magnitude(expected[i]), distance = Rule<E>::distance(got[i], expected[i]);
    const double tolerated = atol + rtol * magnitude, relative = max_rel * magnitude;
    const double bound = tolerated < max_abs ? tolerated : max_abs;
    plain += distance <= (relative < bound ? relative : bound) ? 1 : 0;
  }
  return (uint32_t)plain;
}

template <class E>
GB_INLINE uint32_t plain_elements(const gb_check_args &a, const typename E::Bits *got,
                                  const typename E::Bits *expected, uint32_t n, const gb_check_partial &so_far) {
  if (a.mode == GB_CHECK_EXACT) return plain_if_exact<E>(got, expected, n);
  return plain_if_close<E>(got, expected, n, a.rtol, a.atol, so_far.max_abs, so_far.max_rel);
}

GB_INLINE bool same_bytes(const void *a, const void *b, uint32_t bytes) {
#if defined(__GPUBENCH_CPU__)
  return __builtin_memcmp(a, b, bytes) == 0;
#else
  return false;
#endif
}

GB_INLINE gb_check_partial empty_partial() {
  return gb_check_partial{0, 0, 0, 0, 0, GB_NO_INDEX, GB_NO_INDEX, 0.0, 0.0, 0.0};
}

// One element, by the book.
template <class E>
GB_INLINE void describe(const gb_check_args &a, uint64_t index, typename E::Bits got, typename E::Bits expected,
                        bool poisoned, gb_check_partial &partial) {
  const Judged j = judge<E>(a, got, expected);
  partial.matched += j.right;
  if (j.right && !j.finite) return;
  if (!j.right) {
    partial.unwritten += poisoned;
    partial.non_finite += !j.got_finite && j.magnitude <= DOUBLE_MAX;
    partial.first_wrong = least(partial.first_wrong, index);
  }
  const double error = j.finite ? j.error : double_of(0x7ff0000000000000ull);
  if (error > partial.worst_error || (error == partial.worst_error && error > 0 && index < partial.worst)) {
    partial.worst = index;
    partial.worst_error = error;
  }
  if (!j.finite) return;
  if (j.error > partial.max_abs) partial.max_abs = j.error;
  const double relative = j.magnitude > 0 ? j.error / j.magnitude : 0.0;
  if (relative > partial.max_rel) partial.max_rel = relative <= DOUBLE_MAX ? relative : DOUBLE_MAX;
}

// Elements that are described together when one of them has something to report.
constexpr uint32_t PIECE = 64;

template <class E>
GB_INLINE void describe_piece(const gb_check_args &a, uint64_t start, const typename E::Bits *got,
                              const typename E::Bits *expected, uint32_t n, gb_check_partial &partial) {
  constexpr uint32_t SIZE = sizeof(typename E::Bits);
  uint8_t noise[PIECE * SIZE];
  bool has_noise = false;
  GB_ONE_BY_ONE for (uint32_t i = 0; i < n; ++i) {
    bool poisoned = !judge<E>(a, got[i], expected[i]).right;
    if (poisoned && !has_noise) make_noise(a.poison_key, a.poison_offset + start * SIZE, n * SIZE, noise);
    has_noise |= poisoned;
    const typename E::Raw raw = E::raw(got[i]);
    GB_ONE_BY_ONE for (uint32_t byte = 0; poisoned && byte < SIZE; ++byte) {
      poisoned = (uint8_t)((uint64_t)raw >> (8 * byte)) == noise[i * SIZE + byte];
    }
    describe<E>(a, start + i, got[i], expected[i], poisoned, partial);
  }
}

template <class E>
GB_RARE void describe_run(const gb_check_args &a, uint64_t start, const typename E::Bits *got,
                          const typename E::Bits *expected, uint32_t n, gb_check_partial &partial) {
  GB_ONE_BY_ONE for (uint32_t piece = 0; piece < n; piece += PIECE) {
    const uint32_t length = (uint32_t)least(PIECE, n - piece);
#if defined(__GPUBENCH_CPU__)
    if (plain_elements<E>(a, got + piece, expected + piece, length, partial) == length) {
      partial.matched += length;
      continue;
    }
#endif
    describe_piece<E>(a, start + piece, got + piece, expected + piece, length, partial);
  }
}

template <class E>
GB_INLINE void check_elements(const gb_check_args &a, uint64_t start, uint32_t n, gb_check_partial &partial) {
  typedef typename E::Bits Bits;
  const Bits *all = (const Bits *)a.got, *got = all + start, *expected = (const Bits *)a.expected + start;
  partial.checked += n;
  partial.same_as_first += count_same<E>(got, all[0], n);
  if (same_bytes(got, expected, n * sizeof(Bits)) || plain_elements<E>(a, got, expected, n, partial) == n) {
    partial.matched += n;
  } else {
    describe_run<E>(a, start, got, expected, n, partial);
  }
}

GB_INLINE uint32_t element_bytes(uint32_t dtype) {
#define GB_SIZE(E) return sizeof(typename E::Bits)
  GB_FOR_DTYPE(dtype, GB_SIZE)
#undef GB_SIZE
  return 0;
}

GB_RUN void check_run(const gb_check_args &a, uint64_t start, uint32_t n, gb_check_partial &partial) {
#define GB_CHECK(E) check_elements<E>(a, start, n, partial)
  GB_FOR_DTYPE(a.dtype, GB_CHECK)
#undef GB_CHECK
}

}  // namespace gb

extern "C" __global__ void gb_check(gb_check_args a) {
  const gb::Share share = gb::share_of_thread();
  const uint64_t step = gb::least(share.step, a.partial_count);
  if (share.first >= step) return;
  gb_check_partial partial = gb::empty_partial();
  const uint32_t size = gb::element_bytes(a.dtype);
  if (size != 0 && a.len != 0 && a.mode <= GB_CHECK_CLOSE) {
    const uint64_t run_elements = GB_RUN_BYTES / size;
    const uint64_t tiles = gb::pieces(a.len, run_elements * gb::RUNS_PER_TILE);
    const gb::Permutation order = gb::permutation_of(tiles, a.order_key);
    for (uint64_t k = share.first; k < tiles * gb::RUNS_PER_TILE; k += step) {
      const uint64_t tile = gb::permuted(order, k / gb::RUNS_PER_TILE);
      const uint64_t start = (tile * gb::RUNS_PER_TILE + k % gb::RUNS_PER_TILE) * run_elements;
      if (start >= a.len) continue;
      gb::check_run(a, start, (uint32_t)gb::least(run_elements, a.len - start), partial);
    }
  }
  gb_check_partial *partials = (gb_check_partial *)a.partials;
  partials[share.first] = partial;
  for (uint64_t idle = share.first + step; idle < a.partial_count; idle += step) partials[idle] = gb::empty_partial();
}
