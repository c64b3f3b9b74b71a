// `gb_fill`: fresh inputs. Element i is a function of (key, tensor, i) and of the distribution, for
// every geometry.
#pragma once

#include "integers.cuh"
#include "normal.cuh"
#include "ramp.cuh"

namespace gb {

// The values of an integer type are all of its bit patterns, shifted or not.
template <class E>
GB_INLINE uint32_t drawn_kind(const gb_fill_args &a) {
  constexpr uint32_t BITS = 8 * sizeof(typename E::Bits);
  const bool all = a.span == 0 || (BITS < 64 && a.span == 1ull << (BITS & 63));
  return !E::FLOATING && a.kind == GB_FILL_INTEGERS && all ? (uint32_t)GB_FILL_BITS : a.kind;
}

// A real number as an element: rounded down to an integer, or as it is.
template <class E, bool FLOATING = E::FLOATING>
struct OfReal;

template <class E>
struct OfReal<E, false> {
  static GB_INLINE typename E::Bits made(typename E::Real x) { return E::nearest(Range<E>::settled(x)); }
};

template <class E>
struct OfReal<E, true> {
  static GB_INLINE typename E::Real made(typename E::Real x) { return x; }
};

template <class E>
GB_INLINE void fill_uniform(const gb_fill_args &a, const Task &task) {
  typedef typename E::Real Real;
  constexpr uint32_t BYTES = real_bytes<E>();
  if constexpr (E::FLOATING) {
    const Ramp<E, BYTES> ramp = Ramp<E, BYTES>::between(a.a, a.b);
    if (ramp.fits) {
      each_element<E, BYTES>(a, task, GB_MAKE { return ramp.number(words, i); });
      return;
    }
  }
  const Bounds<Real> bounds = fill_bounds<E>(a);
  const Real p = (Real)a.a, q = (Real)a.b;
  each_element<E, BYTES>(a, task, GB_MAKE {
    const Real u = Draw<BYTES>::unit(words, i);
    return OfReal<E>::made(held(fused(q, u, fused(-p, u, p)), bounds));
  });
}

template <class E, class Normals, class Make>
GB_INLINE void each_normal(const gb_fill_args &a, const Task &task, const Normals, Make make) {
  constexpr uint32_t BYTES = real_bytes<E>();
  each_element<E, BYTES>(a, task, GB_MIX {
    GB_LANES for (uint32_t j = 0; j < Run<E, BYTES>::BLOCKS; ++j) Normals::mix_block(words + 4 * j);
  }, make);
}

template <class E>
GB_INLINE void fill_normal(const gb_fill_args &a, const Task &task) {
  typedef typename E::Real Real;
  typedef Normal<real_bytes<E>()> Normals;
  const Real mean = (Real)a.a, deviation = (Real)a.b;
  // No drawn number is 8 standard deviations from the mean.
  const Real reach = fused((Real)8, deviation, mean < 0 ? -mean : mean);
  const bool held_by_itself = reach < fill_bounds<E>(a).highest;
  if constexpr (E::FLOATING && sizeof(Real) == 4) {
    if (scales_terms(deviation) && held_by_itself) {
      const Normals normals = Normals::scaled(mean, deviation);
      each_normal<E>(a, task, normals, GB_MAKE { return normals.number(words, i); });
      return;
    }
  }
  const Normals normals = Normals::scaled(0, 1);
  if constexpr (sizeof(typename E::Bits) == 8 && E::FLOATING) {
    if (held_by_itself) {
      each_normal<E>(a, task, normals, GB_MAKE { return fused(deviation, normals.number(words, i), mean); });
      return;
    }
  }
  // Integers are rounded down below. Normal numbers are rounded to nearest.
  const Real centre = E::FLOATING ? mean : mean + (Real)0.5;
  const Bounds<Real> bounds = fill_bounds<E>(a);
  each_normal<E>(a, task, normals, GB_MAKE {
    return OfReal<E>::made(held(fused(deviation, (Real)normals.number(words, i), centre), bounds));
  });
}

template <class E>
GB_INLINE void fill_elements(const gb_fill_args &a, const Task &task) {
  switch (drawn_kind<E>(a)) {
    case GB_FILL_UNIFORM: fill_uniform<E>(a, task); break;
    case GB_FILL_NORMAL: fill_normal<E>(a, task); break;
    case GB_FILL_INTEGERS: fill_integers<E>(a, task); break;
    default: each_element<E, sizeof(typename E::Bits)>(a, task, AsDrawn{}); break;
  }
}

GB_INLINE void fill_dtype(const gb_fill_args &a, const Share share) {
  const Task task = Task::of(a, share);
#define GB_FILL(E) fill_elements<E>(a, task)
  GB_FOR_DTYPE(a.dtype, GB_FILL, )
#undef GB_FILL
}

#if defined(GB_PHILOX_AVX2)
// On processors without the instruction, a fused operation is a call.
__attribute__((target("avx2,fma"), noinline)) static void fill_share_fused(const gb_fill_args &a, const Share share) {
  fill_dtype(a, share);
}
#endif

GB_RUN void fill_share_portably(const gb_fill_args &a, const Share share) { fill_dtype(a, share); }

GB_INLINE void fill_share(const gb_fill_args &a, const Share share) {
#if defined(GB_PHILOX_AVX2)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    fill_share_fused(a, share);
    return;
  }
#endif
  fill_share_portably(a, share);
}

}  // namespace gb

GB_KERNEL(4) gb_fill(gb_fill_args a) {
  gb::after_earlier_work();
  if (a.kind <= GB_FILL_BITS) gb::fill_share(a, gb::share_of_thread());
}
