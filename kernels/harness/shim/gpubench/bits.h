/* Integer intrinsics, reinterpreting casts, cached loads, clocks. */
#pragma once

static inline int __popc(unsigned int v) { return __builtin_popcount(v); }
static inline int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
static inline int __clz(int v) { return v ? __builtin_clz(unsigned(v)) : 32; }
static inline int __clzll(long long v) { return v ? __builtin_clzll((unsigned long long)v) : 64; }
static inline int __ffs(int v) { return __builtin_ffs(v); }
static inline int __ffsll(long long v) { return __builtin_ffsll(v); }
static inline unsigned int __brev(unsigned int v) {
  v = ((v >> 1) & 0x55555555u) | ((v & 0x55555555u) << 1);
  v = ((v >> 2) & 0x33333333u) | ((v & 0x33333333u) << 2);
  v = ((v >> 4) & 0x0f0f0f0fu) | ((v & 0x0f0f0f0fu) << 4);
  return __builtin_bswap32(v);
}
static inline unsigned long long __brevll(unsigned long long v) {
  return (unsigned long long)__brev(unsigned(v)) << 32 | __brev(unsigned(v >> 32));
}
static inline unsigned int __byte_perm(unsigned int a, unsigned int b, unsigned int select) {
  const uint64_t bytes = uint64_t(b) << 32 | a;
  unsigned int out = 0;
  for (int i = 0; i < 4; i++) {
    const unsigned int s = select >> (4 * i);
    unsigned int byte = unsigned(bytes >> (8 * (s & 7u))) & 0xffu;
    if (s & 8u) byte = byte & 0x80u ? 0xffu : 0u;
    out |= byte << (8 * i);
  }
  return out;
}
static inline int __mulhi(int a, int b) { return int((int64_t(a) * b) >> 32); }
static inline unsigned int __umulhi(unsigned int a, unsigned int b) { return unsigned((uint64_t(a) * b) >> 32); }
static inline long long __mul64hi(long long a, long long b) { return (long long)((__int128(a) * b) >> 64); }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)(((unsigned __int128)a * b) >> 64);
}
static inline int __mul24(int a, int b) { return int(unsigned((a << 8) >> 8) * unsigned((b << 8) >> 8)); }
static inline unsigned int __umul24(unsigned int a, unsigned int b) { return (a & 0xffffffu) * (b & 0xffffffu); }
static inline unsigned int __sad(int a, int b, unsigned int c) {
  return c + (a > b ? unsigned(a) - unsigned(b) : unsigned(b) - unsigned(a));
}
static inline unsigned int __usad(unsigned int a, unsigned int b, unsigned int c) { return c + (a > b ? a - b : b - a); }
static inline int __hadd(int a, int b) { return int((int64_t(a) + b) >> 1); }
static inline int __rhadd(int a, int b) { return int((int64_t(a) + b + 1) >> 1); }
static inline unsigned int __uhadd(unsigned int a, unsigned int b) { return unsigned((uint64_t(a) + b) >> 1); }
static inline unsigned int __urhadd(unsigned int a, unsigned int b) { return unsigned((uint64_t(a) + b + 1) >> 1); }
static inline unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int shift) {
  return unsigned((((uint64_t(high) << 32) | low) << (shift & 31u)) >> 32);
}
static inline unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int shift) {
  return unsigned(((uint64_t(high) << 32) | low) >> (shift & 31u));
}
static inline unsigned int __funnelshift_lc(unsigned int low, unsigned int high, unsigned int shift) {
  return shift >= 32 ? low : __funnelshift_l(low, high, shift);
}
static inline unsigned int __funnelshift_rc(unsigned int low, unsigned int high, unsigned int shift) {
  return shift >= 32 ? high : __funnelshift_r(low, high, shift);
}
/* The position of a set bit: the first one from `base` upwards for `offset` 1, downwards for -1,
 * and so on. An offset of 0 asks only for `base` itself. */
static inline unsigned int __fns(unsigned int mask, unsigned int base, int offset) {
  if (offset == 0) return base < 32 && mask >> base & 1u ? base : ~0u;
  int left = offset > 0 ? offset : -offset;
  for (unsigned int at = base; at < 32; at += offset > 0 ? 1u : ~0u) {
    if (mask >> at & 1u && --left == 0) return at;
  }
  return ~0u;
}
static inline unsigned short __nv_bswap16(unsigned short v) { return __builtin_bswap16(v); }
static inline unsigned int __nv_bswap32(unsigned int v) { return __builtin_bswap32(v); }
static inline unsigned long long __nv_bswap64(unsigned long long v) { return __builtin_bswap64(v); }

template <class To, class From>
static inline To gb_bits(From from) {
  static_assert(sizeof(To) == sizeof(From), "a reinterpretation keeps the size");
  To to;
  __builtin_memcpy(&to, &from, sizeof(To));
  return to;
}
static inline int __float_as_int(float v) { return gb_bits<int>(v); }
static inline unsigned int __float_as_uint(float v) { return gb_bits<unsigned int>(v); }
static inline float __int_as_float(int v) { return gb_bits<float>(v); }
static inline float __uint_as_float(unsigned int v) { return gb_bits<float>(v); }
static inline long long __double_as_longlong(double v) { return gb_bits<long long>(v); }
static inline double __longlong_as_double(long long v) { return gb_bits<double>(v); }
static inline int __double2hiint(double v) { return int(gb_bits<uint64_t>(v) >> 32); }
static inline int __double2loint(double v) { return int(gb_bits<uint64_t>(v)); }
static inline double __hiloint2double(int high, int low) {
  return gb_bits<double>(uint64_t(unsigned(high)) << 32 | unsigned(low));
}

/* Loads and stores with cache hints are plain loads and stores. */
#define GB_LOAD(name) \
  template <class T>  \
  static inline T name(const T *p) { return *p; }
GB_LOAD(__ldg)
GB_LOAD(__ldca)
GB_LOAD(__ldcg)
GB_LOAD(__ldcs)
GB_LOAD(__ldlu)
GB_LOAD(__ldcv)
#undef GB_LOAD
#define GB_STORE(name) \
  template <class T>   \
  static inline void name(T *p, std::remove_cv_t<T> value) { *p = value; }
GB_STORE(__stwb)
GB_STORE(__stcg)
GB_STORE(__stcs)
GB_STORE(__stwt)
#undef GB_STORE

static inline void __prof_trigger(int) {}
static inline void __nanosleep(unsigned int) {}
static inline void __assume(bool condition) {
  if (!condition) __builtin_unreachable();
}
#define __builtin_assume(condition) __assume(condition)

/* Ticks of the processor. `clock()` is that of the C library, in microseconds, because <time.h>
 * declares it and a source may include that. */
static inline long long clock64() {
#if defined(__x86_64__)
  return (long long)__builtin_ia32_rdtsc();
#else
  long long ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#endif
}
