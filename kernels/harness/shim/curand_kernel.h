/* cuRAND's XORWOW generator in kernels: Marsaglia's xorwow, with cuRAND's seeds, distances between
 * subsequences and distributions. */
#pragma once
#include "gpubench/cuda.h"

struct curandStateXORWOW {
  unsigned int d, v[5];
  int boxmuller_flag, boxmuller_flag_double;
  float boxmuller_extra;
  double boxmuller_extra_double;
};
typedef struct curandStateXORWOW curandStateXORWOW_t;
typedef struct curandStateXORWOW curandState_t;
typedef struct curandStateXORWOW curandState;

static inline void gb_xorwow_step(unsigned int (&v)[5]) {
  const unsigned int t = v[0] ^ v[0] >> 2;
  for (int i = 0; i < 4; i++) v[i] = v[i + 1];
  v[4] ^= v[4] << 4 ^ t ^ t << 1;
}
static constexpr unsigned int gb_xorwow_weyl = 362437u;

static inline unsigned int curand(curandStateXORWOW *state) {
  gb_xorwow_step(state->v);
  state->d += gb_xorwow_weyl;
  return state->v[4] + state->d;
}

/* A number of steps at once: a linear map of the state's 160 bits, by the images of each. */
struct gb_xorwow_jump {
  unsigned int images[160][5];
  void apply(unsigned int (&v)[5]) const {
    unsigned int to[5] = {};
    for (int bit = 0; bit < 160; bit++) {
      const unsigned int mask = 0u - (v[bit / 32] >> (bit % 32) & 1u);
      for (int i = 0; i < 5; i++) to[i] ^= images[bit][i] & mask;
    }
    __builtin_memcpy(v, to, sizeof to);
  }
};

/* The distance between two subsequences, as a power of two. */
static constexpr int gb_xorwow_apart = 67;

/* Jumps of 2^0, 2^1, … steps. */
struct gb_xorwow_jumps {
  gb_xorwow_jump by[gb_xorwow_apart + 64];
  gb_xorwow_jumps() {
    for (int bit = 0; bit < 160; bit++) {
      unsigned int v[5] = {};
      v[bit / 32] = 1u << (bit % 32);
      gb_xorwow_step(v);
      __builtin_memcpy(by[0].images[bit], v, sizeof v);
    }
    for (int power = 1; power < gb_xorwow_apart + 64; power++) {
      by[power] = by[power - 1];
      for (auto &image : by[power].images) by[power - 1].apply(image);
    }
  }
};

static __attribute__((noinline)) void gb_xorwow_skip(unsigned long long n, int first, curandStateXORWOW *state) {
  static const gb_xorwow_jumps jumps;
  for (int bit = 0; n >> bit != 0; bit++) {
    if (n >> bit & 1) jumps.by[first + bit].apply(state->v);
    if (bit == 63) break;
  }
}
static inline void skipahead(unsigned long long n, curandStateXORWOW *state) {
  gb_xorwow_skip(n, 0, state);
  state->d += gb_xorwow_weyl * (unsigned int)n;
}
static inline void skipahead_sequence(unsigned long long n, curandStateXORWOW *state) {
  gb_xorwow_skip(n, gb_xorwow_apart, state);
}

static inline void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                               curandStateXORWOW *state) {
  const unsigned int low = 1099087573u * ((unsigned int)seed ^ 0xaad26b49u);
  const unsigned int high = 2591861531u * ((unsigned int)(seed >> 32) ^ 0xf7dcefddu);
  *state = {6615241u + high + low,
            {123456789u + low, 362436069u ^ low, 521288629u + high, 88675123u ^ high, 5783321u + low},
            0, 0, 0, 0};
  skipahead_sequence(subsequence, state);
  skipahead(offset, state);
}

/* Above 0, at most 1. */
static inline float gb_uniform_of(unsigned int x) { return float(x) * 0x1p-32f + 0x1p-33f; }
static inline double gb_uniform_of(unsigned int x, unsigned int y) {
  return double((unsigned long long)x ^ (unsigned long long)y << 21) * 0x1p-53 + 0x1p-54;
}
static inline float curand_uniform(curandStateXORWOW *state) { return gb_uniform_of(curand(state)); }
static inline double curand_uniform_double(curandStateXORWOW *state) {
  const unsigned int x = curand(state);
  return gb_uniform_of(x, curand(state));
}

/* Two normally distributed numbers, by the method of Box and Muller. */
static inline float2 curand_normal2(curandStateXORWOW *state) {
  const float radius = sqrtf(-2.0f * logf(gb_uniform_of(curand(state))));
  const float angle = float(curand(state)) * (0x1p-32f * 6.2831855f) + 0x1p-33f * 6.2831855f;
  return {sinf(angle) * radius, cosf(angle) * radius};
}
static inline double2 curand_normal2_double(curandStateXORWOW *state) {
  const double radius = sqrt(-2.0 * log(curand_uniform_double(state)));
  double2 v;
  sincospi(2.0 * curand_uniform_double(state), &v.x, &v.y);
  return {v.x * radius, v.y * radius};
}

/* The flags of a state whose extra number is a normal or a log-normal one. */
enum { gb_extra_normal = 1, gb_extra_log_normal = 2 };

static inline float curand_normal(curandStateXORWOW *state) {
  if (state->boxmuller_flag == gb_extra_normal) return state->boxmuller_flag = 0, state->boxmuller_extra;
  const float2 v = curand_normal2(state);
  state->boxmuller_extra = v.y;
  state->boxmuller_flag = gb_extra_normal;
  return v.x;
}
static inline double curand_normal_double(curandStateXORWOW *state) {
  if (state->boxmuller_flag_double == gb_extra_normal)
    return state->boxmuller_flag_double = 0, state->boxmuller_extra_double;
  const double2 v = curand_normal2_double(state);
  state->boxmuller_extra_double = v.y;
  state->boxmuller_flag_double = gb_extra_normal;
  return v.x;
}
static inline float curand_log_normal(curandStateXORWOW *state, float mean, float deviation) {
  if (state->boxmuller_flag == gb_extra_log_normal) return state->boxmuller_flag = 0, state->boxmuller_extra;
  const float2 v = curand_normal2(state);
  state->boxmuller_extra = expf(mean + deviation * v.y);
  state->boxmuller_flag = gb_extra_log_normal;
  return expf(mean + deviation * v.x);
}
static inline double curand_log_normal_double(curandStateXORWOW *state, double mean, double deviation) {
  if (state->boxmuller_flag_double == gb_extra_log_normal)
    return state->boxmuller_flag_double = 0, state->boxmuller_extra_double;
  const double2 v = curand_normal2_double(state);
  state->boxmuller_extra_double = exp(mean + deviation * v.y);
  state->boxmuller_flag_double = gb_extra_log_normal;
  return exp(mean + deviation * v.x);
}
