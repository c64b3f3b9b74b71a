/* Barriers, votes, shuffles, fences, traps. The line of the call is recorded. A return address
 * would not do, because the optimiser duplicates barriers. */
#pragma once

#define GB_LINE uint32_t gb_line = __builtin_LINE()

static inline void __syncthreads(GB_LINE) { gb_wait_for(GB_WAIT_BARRIER, gb_line, ~0u, GB_VOTE_NONE, 0); }
static inline int __syncthreads_count(int predicate, GB_LINE) {
  return int(gb_wait_for(GB_WAIT_BARRIER, gb_line, ~0u, GB_VOTE_COUNT, predicate != 0));
}
static inline int __syncthreads_and(int predicate, GB_LINE) {
  return int(gb_wait_for(GB_WAIT_BARRIER, gb_line, ~0u, GB_VOTE_AND, predicate != 0));
}
static inline int __syncthreads_or(int predicate, GB_LINE) {
  return int(gb_wait_for(GB_WAIT_BARRIER, gb_line, ~0u, GB_VOTE_OR, predicate != 0));
}
static inline void __barrier_sync(unsigned int, GB_LINE) { gb_wait_for(GB_WAIT_BARRIER, gb_line, ~0u, GB_VOTE_NONE, 0); }

static inline void __syncwarp(unsigned int mask = 0xffffffffu, GB_LINE) { gb_wait_for(GB_WAIT_WARP, gb_line, mask, 0, 0); }
static inline unsigned int __activemask(GB_LINE) { return unsigned(gb_wait_for(GB_WAIT_ACTIVE, gb_line, ~0u, 0, 0)); }

static inline unsigned int gb_lane() { return gb_linear_thread() & 31u; }

template <class T>
static inline uint64_t gb_to_word(T value) {
  static_assert(sizeof(T) <= 8 && std::is_trivially_copyable<T>::value, "a warp exchanges values of at most 8 bytes");
  uint64_t word = 0;
  __builtin_memcpy(&word, &value, sizeof(T));
  return word;
}
template <class T>
static inline T gb_from_word(uint64_t word) {
  T value;
  __builtin_memcpy(&value, &word, sizeof(T));
  return value;
}

/* Reads a value of another lane, 8 bytes at a time. */
template <class T>
static inline T gb_shuffle(unsigned int mask, T value, unsigned int source, uint32_t gb_line) {
  if constexpr (sizeof(T) <= 8) {
    return gb_from_word<T>(gb_wait_for(GB_WAIT_SHUFFLE, gb_line, mask, source, gb_to_word(value)));
  } else {
    static_assert(sizeof(T) <= 32 && std::is_trivially_copyable<T>::value, "a warp exchanges values of at most 32 bytes");
    uint64_t words[(sizeof(T) + 7) / 8] = {};
    __builtin_memcpy(words, &value, sizeof(T));
    for (uint64_t &word : words) word = gb_wait_for(GB_WAIT_SHUFFLE, gb_line, mask, source, word);
    __builtin_memcpy(&value, words, sizeof(T));
    return value;
  }
}

/* Each lane computes the lane that it reads from. Outside its segment of `width` lanes, it reads
 * its own value. */
template <class T>
static inline T __shfl_sync(unsigned int mask, T value, int source, int width = 32, GB_LINE) {
  const unsigned int lane = gb_lane(), segment = lane & ~unsigned(width - 1);
  return gb_shuffle(mask, value, segment + (unsigned(source) & unsigned(width - 1)), gb_line);
}
template <class T>
static inline T __shfl_up_sync(unsigned int mask, T value, unsigned int delta, int width = 32, GB_LINE) {
  const unsigned int lane = gb_lane(), place = lane & unsigned(width - 1);
  return gb_shuffle(mask, value, place < delta ? lane : lane - delta, gb_line);
}
template <class T>
static inline T __shfl_down_sync(unsigned int mask, T value, unsigned int delta, int width = 32, GB_LINE) {
  const unsigned int lane = gb_lane(), place = lane & unsigned(width - 1);
  return gb_shuffle(mask, value, delta >= unsigned(width) - place ? lane : lane + delta, gb_line);
}
template <class T>
static inline T __shfl_xor_sync(unsigned int mask, T value, int lanes, int width = 32, GB_LINE) {
  const unsigned int lane = gb_lane(), end = (lane & ~unsigned(width - 1)) + unsigned(width);
  const unsigned int source = lane ^ unsigned(lanes);
  return gb_shuffle(mask, value, source < end ? source : lane, gb_line);
}

static inline unsigned int __ballot_sync(unsigned int mask, int predicate, GB_LINE) {
  return unsigned(gb_wait_for(GB_WAIT_BALLOT, gb_line, mask, 0, predicate != 0));
}
static inline int __any_sync(unsigned int mask, int predicate, GB_LINE) {
  return unsigned(gb_wait_for(GB_WAIT_BALLOT, gb_line, mask, 0, predicate != 0)) != 0;
}
static inline int __all_sync(unsigned int mask, int predicate, GB_LINE) {
  const uint64_t answer = gb_wait_for(GB_WAIT_BALLOT, gb_line, mask, 0, predicate != 0);
  return unsigned(answer) == unsigned(answer >> 32);
}
static inline int __uni_sync(unsigned int mask, int predicate, GB_LINE) {
  const uint64_t answer = gb_wait_for(GB_WAIT_BALLOT, gb_line, mask, 0, predicate != 0);
  return unsigned(answer) == 0 || unsigned(answer) == unsigned(answer >> 32);
}
template <class T>
static inline unsigned int __match_any_sync(unsigned int mask, T value, GB_LINE) {
  return unsigned(gb_wait_for(GB_WAIT_MATCH_ANY, gb_line, mask, 0, gb_to_word(value)));
}
template <class T>
static inline unsigned int __match_all_sync(unsigned int mask, T value, int *same, GB_LINE) {
  const unsigned int lanes = unsigned(gb_wait_for(GB_WAIT_MATCH_ALL, gb_line, mask, 0, gb_to_word(value)));
  *same = lanes != 0;
  return lanes;
}

#define GB_WARP_REDUCTION(name, type, how)                                               \
  static inline type name(unsigned int mask, type value, GB_LINE) {                      \
    return (type)gb_wait_for(GB_WAIT_REDUCE, gb_line, mask, how, (unsigned int)value);      \
  }
GB_WARP_REDUCTION(__reduce_add_sync, unsigned int, GB_REDUCE_ADD)
GB_WARP_REDUCTION(__reduce_add_sync, int, GB_REDUCE_ADD)
GB_WARP_REDUCTION(__reduce_min_sync, unsigned int, GB_REDUCE_MIN)
GB_WARP_REDUCTION(__reduce_min_sync, int, GB_REDUCE_MIN_SIGNED)
GB_WARP_REDUCTION(__reduce_max_sync, unsigned int, GB_REDUCE_MAX)
GB_WARP_REDUCTION(__reduce_max_sync, int, GB_REDUCE_MAX_SIGNED)
GB_WARP_REDUCTION(__reduce_and_sync, unsigned int, GB_REDUCE_AND)
GB_WARP_REDUCTION(__reduce_or_sync, unsigned int, GB_REDUCE_OR)
GB_WARP_REDUCTION(__reduce_xor_sync, unsigned int, GB_REDUCE_XOR)
#undef GB_WARP_REDUCTION

static inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __threadfence_block() { __asm__ volatile("" ::: "memory"); }

static inline void gb_trap(uint32_t line) { gb_stop_here(GB_STOP_TRAP, line); }
static inline void gb_assert_failed(uint32_t line) { gb_stop_here(GB_STOP_ASSERT, line); }
#define __trap() gb_trap(__LINE__)
#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) ((condition) ? (void)0 : gb_assert_failed(__LINE__))
#endif
