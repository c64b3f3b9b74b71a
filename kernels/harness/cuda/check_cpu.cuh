// `gb_check` on the CPU device. It first only counts the good elements of a run, in loops that
// compilers turn into vector code.
#pragma once

#include "judge.cuh"
#include "permutation.cuh"

namespace gb {

constexpr uint64_t CHECK_TILE_BYTES = GB_RUN_BYTES;
constexpr double SMALLEST_NORMAL = 2.22507385850720138309023271733240406e-308;

template <class E>
GB_INLINE uint32_t count_same(const typename E::Bits *got, typename E::Bits first, uint32_t n) {
  uint32_t same = 0;
  GB_EACH(i, n, GB_RUN_BYTES / sizeof(typename E::Bits)) same += E::raw(got[i]) == E::raw(first);
  return same;
}

// Elements that are correct and raise neither of the largest errors. Equal elements have no error.
template <class E>
GB_INLINE uint32_t plain_if_exact(const typename E::Bits *got, const typename E::Bits *expected, uint32_t n) {
  uint32_t plain = 0;
  GB_EACH(i, n, GB_RUN_BYTES / sizeof(typename E::Bits)) plain += Rule<E>::exact(got[i], expected[i]);
  return plain;
}

// One bound covers the rule and both of the largest errors so far, so most runs need one comparison
// an element. Elements that are not finite are never within it, because `max_abs` is finite.
// Rounding may double a product below the normal numbers, so the bound then admits only elements
// without an error.
template <class E>
GB_INLINE uint32_t plain_if_close(const typename E::Bits *got, const typename E::Bits *expected, uint32_t n, double rtol,
                                  double atol, double max_abs, double max_rel) {
  // As wide as the compared type, so that vector code needs no conversion of masks.
  uint64_t plain = 0;
  GB_EACH(i, n, GB_RUN_BYTES / sizeof(typename E::Bits)) {
    const double magnitude = Rule<E>::magnitude(expected[i]), distance = Rule<E>::distance(got[i], expected[i]);
    const double tolerated = atol + rtol * magnitude, product = max_rel * magnitude;
    const double relative = product < SMALLEST_NORMAL ? 0.0 : product, bound = tolerated < max_abs ? tolerated : max_abs;
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

template <class E>
GB_RARE void describe_run(const gb_check_args &a, uint64_t start, const typename E::Bits *got,
                          const typename E::Bits *expected, uint32_t n, gb_check_partial &partial) {
  for (uint32_t piece = 0; piece < n; piece += PIECE) {
    const uint32_t length = (uint32_t)least(PIECE, n - piece);
    if (plain_elements<E>(a, got + piece, expected + piece, length, partial) == length) {
      partial.matched += length;
    } else {
      describe_piece<E>(a, start + piece, got + piece, expected + piece, length, partial);
    }
  }
}

template <class E>
GB_INLINE void check_elements(const gb_check_args &a, uint64_t start, uint32_t n, gb_check_partial &partial) {
  typedef typename E::Bits Bits;
  const Bits *all = (const Bits *)a.got, *got = all + start, *expected = (const Bits *)a.expected + start;
  partial.checked += n;
  partial.same_as_first += count_same<E>(got, all[0], n);
  if (__builtin_memcmp(got, expected, n * sizeof(Bits)) == 0 || plain_elements<E>(a, got, expected, n, partial) == n) {
    partial.matched += n;
  } else {
    describe_run<E>(a, start, got, expected, n, partial);
  }
}

GB_RUN void check_tile(const gb_check_args &a, uint64_t start, uint32_t n, gb_check_partial &partial) {
#define GB_CHECK(E) check_elements<E>(a, start, n, partial)
  GB_FOR_COMPARED_DTYPE(a.dtype, GB_CHECK)
#undef GB_CHECK
}

GB_INLINE void check_share(const gb_check_args &a, const Share share, gb_check_partial &partial) {
  const uint64_t tile_elements = CHECK_TILE_BYTES / element_bytes(a.dtype);
  const uint64_t tiles = pieces(a.len, tile_elements);
  const Permutation order = permutation_of(tiles, a.order_key);
  for (uint64_t k = share.first; k < tiles; k += share.step) {
    const uint64_t start = permuted(order, k) * tile_elements;
    check_tile(a, start, (uint32_t)least(tile_elements, a.len - start), partial);
  }
}

}  // namespace gb
