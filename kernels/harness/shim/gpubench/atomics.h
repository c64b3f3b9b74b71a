/* Atomic functions, relaxed like CUDA's. */
#pragma once

/* A parameter of a function that old GPUs lack. If a source defines the function itself, for
 * example under `#if __CUDA_ARCH__ < 600`, its definition is preferred, because its argument
 * needs no conversion. */
template <class T>
struct gb_yielding {
  T value;
  template <class V>
  gb_yielding(V v) : value(v) {}
};

/* Applies `f` to the value at `p` atomically and returns the old value, for operations without
 * an instruction. */
template <class T, class F>
static inline T gb_atomic_update(T *p, F f) {
  using Word = std::conditional_t<sizeof(T) == 8, uint64_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint16_t>>;
  Word *const word = reinterpret_cast<Word *>(p);
  Word seen = __atomic_load_n(word, __ATOMIC_RELAXED);
  for (;;) {
    const T old = gb_bits<T>(seen);
    if (__atomic_compare_exchange_n(word, &seen, gb_bits<Word>(T(f(old))), true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return old;
  }
}

#define GB_ATOMIC_INTEGER(T)                                                                                          \
  static inline T atomicAdd(T *p, T v) { return __atomic_fetch_add(p, v, __ATOMIC_RELAXED); }                         \
  static inline T atomicSub(T *p, T v) { return __atomic_fetch_sub(p, v, __ATOMIC_RELAXED); }                         \
  static inline T atomicAnd(T *p, T v) { return __atomic_fetch_and(p, v, __ATOMIC_RELAXED); }                         \
  static inline T atomicOr(T *p, T v) { return __atomic_fetch_or(p, v, __ATOMIC_RELAXED); }                           \
  static inline T atomicXor(T *p, T v) { return __atomic_fetch_xor(p, v, __ATOMIC_RELAXED); }                         \
  static inline T atomicExch(T *p, T v) { return __atomic_exchange_n(p, v, __ATOMIC_RELAXED); }                       \
  static inline T atomicMin(T *p, T v) {                                                                              \
    return gb_atomic_update(p, [v](T old) { return v < old ? v : old; });                                             \
  }                                                                                                                   \
  static inline T atomicMax(T *p, T v) {                                                                              \
    return gb_atomic_update(p, [v](T old) { return old < v ? v : old; });                                             \
  }                                                                                                                   \
  static inline T atomicCAS(T *p, T expected, T v) {                                                                  \
    __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);                          \
    return expected;                                                                                                  \
  }
GB_ATOMIC_INTEGER(int)
GB_ATOMIC_INTEGER(unsigned int)
GB_ATOMIC_INTEGER(long long)
GB_ATOMIC_INTEGER(unsigned long long)
GB_ATOMIC_INTEGER(unsigned long)
GB_ATOMIC_INTEGER(long)
#undef GB_ATOMIC_INTEGER

static inline unsigned short atomicCAS(unsigned short *p, unsigned short expected, unsigned short v) {
  __atomic_compare_exchange_n(p, &expected, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return expected;
}

static inline float atomicAdd(float *p, float v) {
  return gb_atomic_update(p, [v](float old) { return old + v; });
}
static inline double atomicAdd(double *p, gb_yielding<double> v) {
  return gb_atomic_update(p, [v](double old) { return old + v.value; });
}
static inline float atomicExch(float *p, float v) {
  return gb_atomic_update(p, [v](float) { return v; });
}
static inline float2 atomicAdd(float2 *p, float2 v) { return {atomicAdd(&p->x, v.x), atomicAdd(&p->y, v.y)}; }
static inline float4 atomicAdd(float4 *p, float4 v) {
  return {atomicAdd(&p->x, v.x), atomicAdd(&p->y, v.y), atomicAdd(&p->z, v.z), atomicAdd(&p->w, v.w)};
}
static inline unsigned int atomicInc(unsigned int *p, unsigned int bound) {
  return gb_atomic_update(p, [bound](unsigned int old) { return old >= bound ? 0u : old + 1u; });
}
static inline unsigned int atomicDec(unsigned int *p, unsigned int bound) {
  return gb_atomic_update(p, [bound](unsigned int old) { return old == 0 || old > bound ? bound : old - 1u; });
}

#define GB_ATOMIC_SCOPES(name)                                                                               \
  template <class T, class... V>                                                                             \
  static inline auto name##_block(T *p, V... v) { return name(p, std::remove_cv_t<T>(v)...); }               \
  template <class T, class... V>                                                                             \
  static inline auto name##_system(T *p, V... v) { return name(p, std::remove_cv_t<T>(v)...); }
GB_ATOMIC_SCOPES(atomicAdd)
GB_ATOMIC_SCOPES(atomicSub)
GB_ATOMIC_SCOPES(atomicMin)
GB_ATOMIC_SCOPES(atomicMax)
GB_ATOMIC_SCOPES(atomicAnd)
GB_ATOMIC_SCOPES(atomicOr)
GB_ATOMIC_SCOPES(atomicXor)
GB_ATOMIC_SCOPES(atomicExch)
GB_ATOMIC_SCOPES(atomicCAS)
GB_ATOMIC_SCOPES(atomicInc)
GB_ATOMIC_SCOPES(atomicDec)
#undef GB_ATOMIC_SCOPES
