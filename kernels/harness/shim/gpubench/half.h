/* 16-bit floating-point numbers: stored in 16 bits, computed in `float` or `double`, rounded to
 * nearest even. */
#pragma once

static inline float gb_half_to_float(unsigned short bits) {
#ifdef __FLT16_MAX__
  return float(gb_bits<_Float16>(bits));
#else
  const unsigned int sign = (bits & 0x8000u) << 16, exponent = bits >> 10 & 31u, fraction = bits & 0x3ffu;
  if (exponent == 31) return gb_bits<float>(sign | 0x7f800000u | fraction << 13);
  if (exponent == 0) return gb_bits<float>(gb_bits<unsigned int>(float(fraction) * 0x1p-24f) | sign);
  return gb_bits<float>(sign | (exponent + 112) << 23 | fraction << 13);
#endif
}

/* Rounds a magnitude to half precision. Adding a power of two aligns the last kept bit with the
 * last bit of a double. */
static inline unsigned short gb_half_from_double(double v) {
#ifdef __FLT16_MAX__
  return gb_bits<unsigned short>(_Float16(v));
#else
  const unsigned short sign = std::signbit(v) ? 0x8000 : 0;
  const double size = std::fabs(v);
  if (size != size) return sign | 0x7e00;
  if (size >= 65520.0) return sign | 0x7c00;
  if (size < 0x1p-14) return sign | (unsigned short)(std::nearbyint(size * 0x1p24));
  int exponent;
  const double fraction = std::frexp(size, &exponent); /* in [0.5, 1) */
  const unsigned int kept = (unsigned int)std::nearbyint(fraction * 2048.0);
  return (unsigned short)(sign | (((unsigned int)(exponent + 14) << 10) + (kept - 1024)));
#endif
}
static inline unsigned short gb_half_from_float(float v) {
#ifdef __FLT16_MAX__
  return gb_bits<unsigned short>(_Float16(v));
#else
  return gb_half_from_double(v);
#endif
}

static inline float gb_bfloat_to_float(unsigned short bits) { return gb_bits<float>((unsigned int)bits << 16); }
static inline unsigned short gb_bfloat_from_float(float v) {
  const unsigned int bits = gb_bits<unsigned int>(v);
  if (v != v) return 0x7fff;
  return (unsigned short)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
/* The first rounding is to odd, so that the second one knows what the first one dropped. */
static inline unsigned short gb_bfloat_from_double(double v) {
  float narrow = float(v);
  if (double(narrow) != v && v == v && !std::isinf(v)) {
    if (std::fabs(double(narrow)) > std::fabs(v)) narrow = std::nextafter(narrow, 0.0f);
    narrow = gb_bits<float>(gb_bits<unsigned int>(narrow) | 1u);
  }
  return gb_bfloat_from_float(narrow);
}

#define GB_SHORT_FLOAT(T, Raw, to_float, from_float, from_double)                                                       \
  struct __attribute__((aligned(2))) Raw {                                                                              \
    unsigned short x;                                                                                                   \
  };                                                                                                                    \
  struct __attribute__((aligned(2))) T {                                                                                \
    unsigned short __x;                                                                                                 \
    T() = default;                                                                                                      \
    T(Raw raw) : __x(raw.x) {}                                                                                          \
    T(float v) : __x(from_float(v)) {}                                                                                  \
    T(double v) : __x(from_double(v)) {}                                                                                \
    template <class I, class = std::enable_if_t<std::is_integral<I>::value>>                                            \
    T(I v) : __x(from_double(double(v))) {}                                                                             \
    operator float() const { return to_float(__x); }                                                                    \
    operator Raw() const { return {__x}; }                                                                              \
    T &operator=(float v) { return __x = from_float(v), *this; }                                                        \
    T &operator=(double v) { return __x = from_double(v), *this; }                                                      \
    template <class I, class = std::enable_if_t<std::is_integral<I>::value>>                                            \
    T &operator=(I v) { return __x = from_double(double(v)), *this; }                                                   \
    T &operator+=(T o) { return *this = T(float(*this) + float(o)); }                                                   \
    T &operator-=(T o) { return *this = T(float(*this) - float(o)); }                                                   \
    T &operator*=(T o) { return *this = T(float(*this) * float(o)); }                                                   \
    T &operator/=(T o) { return *this = T(float(*this) / float(o)); }                                                   \
    T &operator++() { return *this = T(float(*this) + 1.0f); }                                                          \
    T &operator--() { return *this = T(float(*this) - 1.0f); }                                                          \
  };                                                                                                                    \
  static inline T operator+(T a, T b) { return T(float(a) + float(b)); }                                                \
  static inline T operator-(T a, T b) { return T(float(a) - float(b)); }                                                \
  static inline T operator*(T a, T b) { return T(float(a) * float(b)); }                                                \
  static inline T operator/(T a, T b) { return T(float(a) / float(b)); }                                                \
  static inline T operator-(T a) { return Raw{(unsigned short)(a.__x ^ 0x8000u)}; }                                     \
  static inline T operator+(T a) { return a; }                                                                          \
  static inline bool operator==(T a, T b) { return float(a) == float(b); }                                              \
  static inline bool operator!=(T a, T b) { return float(a) != float(b); }                                              \
  static inline bool operator<(T a, T b) { return float(a) < float(b); }                                                \
  static inline bool operator>(T a, T b) { return float(a) > float(b); }                                                \
  static inline bool operator<=(T a, T b) { return float(a) <= float(b); }                                              \
  static inline bool operator>=(T a, T b) { return float(a) >= float(b); }                                              \
  static inline T __hadd(T a, T b) { return a + b; }                                                                    \
  static inline T __hsub(T a, T b) { return a - b; }                                                                    \
  static inline T __hmul(T a, T b) { return a * b; }                                                                    \
  static inline T __hdiv(T a, T b) { return a / b; }                                                                    \
  static inline T __hneg(T a) { return -a; }                                                                            \
  static inline T __habs(T a) { return Raw{(unsigned short)(a.__x & 0x7fffu)}; }                                        \
  static inline T __hfma(T a, T b, T c) { return T(double(float(a)) * double(float(b)) + double(float(c))); }           \
  static inline T __hfma_relu(T a, T b, T c) { const T r = __hfma(a, b, c); return float(r) > 0.0f ? r : T(0.0f); }     \
  static inline T __hadd_sat(T a, T b) { return T(saturatef(float(a) + float(b))); }                                    \
  static inline T __hmul_sat(T a, T b) { return T(saturatef(float(a) * float(b))); }                                    \
  static inline T __hmax(T a, T b) { return T(std::fmax(float(a), float(b))); }                                         \
  static inline T __hmin(T a, T b) { return T(std::fmin(float(a), float(b))); }                                         \
  static inline T max(T a, T b) { return __hmax(a, b); }                                                                \
  static inline T min(T a, T b) { return __hmin(a, b); }                                                                \
  static inline bool __heq(T a, T b) { return a == b; }                                                                 \
  static inline bool __hne(T a, T b) { return a != b; }                                                                 \
  static inline bool __hlt(T a, T b) { return a < b; }                                                                  \
  static inline bool __hle(T a, T b) { return a <= b; }                                                                 \
  static inline bool __hgt(T a, T b) { return a > b; }                                                                  \
  static inline bool __hge(T a, T b) { return a >= b; }                                                                 \
  static inline bool __hisnan(T a) { return float(a) != float(a); }                                                     \
  static inline int __hisinf(T a) { return std::isinf(float(a)) ? (float(a) < 0 ? -1 : 1) : 0; }                        \
  static inline T hsqrt(T a) { return T(std::sqrt(float(a))); }                                                         \
  static inline T hrsqrt(T a) { return T(1.0f / std::sqrt(float(a))); }                                                 \
  static inline T hrcp(T a) { return T(1.0f / float(a)); }                                                              \
  static inline T hexp(T a) { return T(std::exp(float(a))); }                                                           \
  static inline T hexp2(T a) { return T(std::exp2(float(a))); }                                                         \
  static inline T hlog(T a) { return T(std::log(float(a))); }                                                           \
  static inline T hlog2(T a) { return T(std::log2(float(a))); }                                                         \
  static inline T hlog10(T a) { return T(std::log10(float(a))); }                                                       \
  static inline T hsin(T a) { return T(std::sin(float(a))); }                                                           \
  static inline T hcos(T a) { return T(std::cos(float(a))); }                                                           \
  static inline T htanh(T a) { return T(std::tanh(float(a))); }                                                         \
  static inline T hfloor(T a) { return T(std::floor(float(a))); }                                                       \
  static inline T hceil(T a) { return T(std::ceil(float(a))); }                                                         \
  static inline T htrunc(T a) { return T(std::trunc(float(a))); }                                                       \
  static inline T hrint(T a) { return T(std::nearbyint(float(a))); }                                                    \
  static inline T atomicAdd(T *p, gb_yielding<T> v) {                                                                   \
    return gb_atomic_update(p, [v](T old) { return old + v.value; });                                                   \
  }                                                                                                                     \
  static inline T __hmax_nan(T a, gb_yielding<T> b) {                                                                   \
    return __hisnan(a) ? a : __hisnan(b.value) ? b.value : __hmax(a, b.value);                                          \
  }                                                                                                                     \
  static inline T __hmin_nan(T a, gb_yielding<T> b) {                                                                   \
    return __hisnan(a) ? a : __hisnan(b.value) ? b.value : __hmin(a, b.value);                                          \
  }

/* Pairs: element by element. */
#define GB_SHORT_PAIR(Pair, T)                                                                                          \
  struct __attribute__((aligned(4))) Pair {                                                                             \
    T x, y;                                                                                                             \
    Pair() = default;                                                                                                   \
    Pair(T x, T y) : x(x), y(y) {}                                                                                      \
    Pair &operator+=(Pair o) { return x += o.x, y += o.y, *this; }                                                      \
    Pair &operator-=(Pair o) { return x -= o.x, y -= o.y, *this; }                                                      \
    Pair &operator*=(Pair o) { return x *= o.x, y *= o.y, *this; }                                                      \
  };                                                                                                                    \
  static inline Pair operator+(Pair a, Pair b) { return {a.x + b.x, a.y + b.y}; }                                       \
  static inline Pair operator-(Pair a, Pair b) { return {a.x - b.x, a.y - b.y}; }                                       \
  static inline Pair operator*(Pair a, Pair b) { return {a.x * b.x, a.y * b.y}; }                                       \
  static inline Pair operator/(Pair a, Pair b) { return {a.x / b.x, a.y / b.y}; }                                       \
  static inline Pair operator-(Pair a) { return {-a.x, -a.y}; }                                                         \
  static inline bool operator==(Pair a, Pair b) { return a.x == b.x && a.y == b.y; }                                    \
  static inline Pair __hadd2(Pair a, Pair b) { return a + b; }                                                          \
  static inline Pair __hsub2(Pair a, Pair b) { return a - b; }                                                          \
  static inline Pair __hmul2(Pair a, Pair b) { return a * b; }                                                          \
  static inline Pair __h2div(Pair a, Pair b) { return a / b; }                                                          \
  static inline Pair __hneg2(Pair a) { return -a; }                                                                     \
  static inline Pair __habs2(Pair a) { return {__habs(a.x), __habs(a.y)}; }                                             \
  static inline Pair __hfma2(Pair a, Pair b, Pair c) { return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)}; }         \
  static inline Pair __hmax2(Pair a, Pair b) { return {__hmax(a.x, b.x), __hmax(a.y, b.y)}; }                           \
  static inline Pair __hmin2(Pair a, Pair b) { return {__hmin(a.x, b.x), __hmin(a.y, b.y)}; }                           \
  static inline Pair h2exp(Pair a) { return {hexp(a.x), hexp(a.y)}; }                                                   \
  static inline Pair h2sqrt(Pair a) { return {hsqrt(a.x), hsqrt(a.y)}; }                                                \
  static inline Pair h2rsqrt(Pair a) { return {hrsqrt(a.x), hrsqrt(a.y)}; }                                             \
  static inline Pair h2rcp(Pair a) { return {hrcp(a.x), hrcp(a.y)}; }                                                   \
  static inline Pair atomicAdd(Pair *p, Pair v) {                                                                       \
    const T x = atomicAdd(&p->x, v.x), y = atomicAdd(&p->y, v.y);                                                       \
    return {x, y};                                                                                                      \
  }
