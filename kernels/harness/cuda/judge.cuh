// The tolerance rule of outputs, and the report about an element that breaks it.
#pragma once

#include "element.cuh"
#include "noise.cuh"

namespace gb {

// The rule, and the error, for one pair of elements.
struct Judged {
  bool right;
  // Whether both are finite. Only then is the error a number.
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

// A distance is that of two points of the plane. Squares of floats are exact in double, and none of
// the sums overflows.
template <>
struct Rule<Complex32, true> {
  static GB_INLINE double length(double re, double im) { return sqrt(re * re + im * im); }
  static GB_INLINE bool is_nan(uint64_t z) {
    const double re = Complex32::re(z), im = Complex32::im(z);
    return (re != re) | (im != im);
  }
  static GB_INLINE bool is_finite(uint64_t z) {
    return (fabs(Complex32::re(z)) <= DOUBLE_MAX) & (fabs(Complex32::im(z)) <= DOUBLE_MAX);
  }
  static GB_INLINE bool exact(uint64_t got, uint64_t expected) {
    const bool equal = (Complex32::re(got) == Complex32::re(expected)) & (Complex32::im(got) == Complex32::im(expected));
    return equal | (is_nan(got) & is_nan(expected));
  }
  static GB_INLINE double magnitude(uint64_t expected) { return length(Complex32::re(expected), Complex32::im(expected)); }
  static GB_INLINE double distance(uint64_t got, uint64_t expected) {
    return length(Complex32::re(got) - Complex32::re(expected), Complex32::im(got) - Complex32::im(expected));
  }
  static GB_INLINE Judged close(uint64_t got, uint64_t expected, double rtol, double atol) {
    const double size = magnitude(expected), error = distance(got, expected);
    const bool got_finite = is_finite(got), finite = got_finite & is_finite(expected);
    const bool right = (finite & (error <= atol + rtol * size)) | exact(got, expected);
    return Judged{right, finite, got_finite, finite ? error : 0.0, size};
  }
};

template <class E>
GB_INLINE Judged judge(const gb_check_args &a, typename E::Bits got, typename E::Bits expected) {
  Judged judged = Rule<E>::close(got, expected, a.rtol, a.atol);
  if (a.mode == GB_CHECK_EXACT) judged.right = Rule<E>::exact(got, expected);
  return judged;
}

GB_INLINE gb_check_partial empty_partial() {
  return gb_check_partial{0, 0, 0, 0, 0, GB_NO_INDEX, GB_NO_INDEX, 0.0, 0.0, 0.0};
}

GB_INLINE void merge_checks(gb_check_partial &all, const gb_check_partial &other) {
  all.checked += other.checked;
  all.matched += other.matched;
  all.unwritten += other.unwritten;
  all.non_finite += other.non_finite;
  all.same_as_first += other.same_as_first;
  all.first_wrong = least(all.first_wrong, other.first_wrong);
  if (other.worst_error > all.worst_error || (other.worst_error == all.worst_error && other.worst < all.worst)) {
    all.worst = other.worst;
    all.worst_error = other.worst_error;
  }
  all.max_abs = other.max_abs > all.max_abs ? other.max_abs : all.max_abs;
  all.max_rel = other.max_rel > all.max_rel ? other.max_rel : all.max_rel;
}

// Judges one element in full.
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

// Elements that are judged in full together when one of them needs a report.
#if !defined(__GPUBENCH_CPU__)
constexpr uint32_t PIECE = GB_RUN_BYTES;
#else
constexpr uint32_t PIECE = 64;
#endif

// Makes the noise that was written where element `index` is. Of elements that were gathered from
// rows, only those of a row follow each other in the stream.
template <class E>
GB_RARE void make_noise_of_row(const gb_check_args &a, uint64_t index, uint8_t *noise) {
  constexpr uint32_t SIZE = sizeof(typename E::Bits);
  const uint64_t row = index / a.poison_row, place = index % a.poison_row;
  make_noise(a.poison_key, a.poison_offset + row * a.poison_pitch + place * SIZE, SIZE, noise);
}

template <class E>
GB_INLINE void describe_piece(const gb_check_args &a, uint64_t start, const typename E::Bits *got,
                              const typename E::Bits *expected, uint32_t n, gb_check_partial &partial) {
  constexpr uint32_t SIZE = sizeof(typename E::Bits);
  uint8_t noise[PIECE * SIZE];
  bool has_noise = false;
  GB_ONE_BY_ONE for (uint32_t i = 0; i < n; ++i) {
    bool poisoned = !judge<E>(a, got[i], expected[i]).right;
    if (poisoned && a.poison_row != 0) {
      make_noise_of_row<E>(a, start + i, noise + i * SIZE);
    } else if (poisoned && !has_noise) {
      make_noise(a.poison_key, a.poison_offset + start * SIZE, n * SIZE, noise);
      has_noise = true;
    }
    const typename E::Raw raw = E::raw(got[i]);
    GB_ONE_BY_ONE for (uint32_t byte = 0; poisoned && byte < SIZE; ++byte) {
      poisoned = (uint8_t)((uint64_t)raw >> (8 * byte)) == noise[i * SIZE + byte];
    }
    describe<E>(a, start + i, got[i], expected[i], poisoned, partial);
  }
}

}  // namespace gb
