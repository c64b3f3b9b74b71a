/* CUDA's vector types with their sizes and alignments. */
#pragma once

#define GB_VECTORS(name, scalar, align2, align4)                                                          \
  struct name##1 { scalar x; };                                                                           \
  struct __attribute__((aligned(align2))) name##2 { scalar x, y; };                                       \
  struct name##3 { scalar x, y, z; };                                                                     \
  struct __attribute__((aligned(align4))) name##4 { scalar x, y, z, w; };                                 \
  static inline constexpr name##1 make_##name##1(scalar x) { return {x}; }                                \
  static inline constexpr name##2 make_##name##2(scalar x, scalar y) { return {x, y}; }                   \
  static inline constexpr name##3 make_##name##3(scalar x, scalar y, scalar z) { return {x, y, z}; }      \
  static inline constexpr name##4 make_##name##4(scalar x, scalar y, scalar z, scalar w) { return {x, y, z, w}; }

GB_VECTORS(char, signed char, 2, 4)
GB_VECTORS(uchar, unsigned char, 2, 4)
GB_VECTORS(short, short, 4, 8)
GB_VECTORS(ushort, unsigned short, 4, 8)
GB_VECTORS(int, int, 8, 16)
GB_VECTORS(uint, unsigned int, 8, 16)
GB_VECTORS(long, long, 16, 16)
GB_VECTORS(ulong, unsigned long, 16, 16)
GB_VECTORS(longlong, long long, 16, 16)
GB_VECTORS(ulonglong, unsigned long long, 16, 16)
GB_VECTORS(float, float, 8, 16)
GB_VECTORS(double, double, 16, 16)
#undef GB_VECTORS

struct dim3 {
  unsigned int x, y, z;
  constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return {x, y, z}; }
};
