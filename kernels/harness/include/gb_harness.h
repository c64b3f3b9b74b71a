/* Arguments and results of the harness kernels, shared by the host and the device.
 *
 * Every kernel takes exactly one of the `*_args` structs by value. Addresses are device addresses
 * in 64-bit integers, so that the layout is the same on every device. `src/bindings.rs` is
 * generated from this file. */
#ifndef GB_HARNESS_H
#define GB_HARNESS_H

#if defined(__CUDACC_RTC__)
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t;
#else
#include <stdint.h>
#endif

/** Element types, in the order of `gpubench::catalog::DType`. */
enum gb_dtype {
  GB_U8 = 0,
  GB_I8 = 1,
  GB_U16 = 2,
  GB_I16 = 3,
  GB_U32 = 4,
  GB_I32 = 5,
  GB_U64 = 6,
  GB_I64 = 7,
  GB_F16 = 8,
  GB_BF16 = 9,
  GB_F32 = 10,
  GB_F64 = 11,
  GB_F8E4M3 = 12,
  GB_F8E5M2 = 13,
  /** Two floats. Only `gb_check` takes it: a fill is one of twice as many floats. */
  GB_COMPLEX32 = 14,
};

/** The distribution of `gb_fill`. */
enum gb_fill_kind {
  /** [a, b). Rounding never reaches the bound. Integer elements take the floor. */
  GB_FILL_UNIFORM = 0,
  /** Mean a, standard deviation b. Integer elements round to nearest and saturate. */
  GB_FILL_NORMAL = 1,
  /** low + [0, span), modulo 2^64; a span of 0 means 2^64. */
  GB_FILL_INTEGERS = 2,
  /** Every bit pattern of the element type. */
  GB_FILL_BITS = 3,
};

/** How `gb_check` compares. */
enum gb_check_mode {
  /** Equal values: a NaN matches a NaN, zero matches negative zero. */
  GB_CHECK_EXACT = 0,
  /** Both NaN, or equal (infinities too), or finite with |got - expected| <= atol + rtol *
   * |expected| in double. A complex number is NaN if either part is, and finite if both are. */
  GB_CHECK_CLOSE = 1,
};

/** How `gb_flush` goes through its buffer. */
enum gb_flush_kind {
  /** Loads only, which leave no dirty lines for the kernel under test to write back. */
  GB_FLUSH_READ = 0,
  /** Stores. */
  GB_FLUSH_WRITE = 1,
};

/** The index that means no element. */
#define GB_NO_INDEX 0xffffffffffffffffull

/** Fills a tensor with random elements. */
struct gb_fill_args {
  /** First element. */
  uint64_t out;
  /** Elements. */
  uint64_t len;
  /** Key of the window. */
  uint64_t key;
  /** Size of the range of `GB_FILL_INTEGERS`; 0 means 2^64. */
  uint64_t span;
  /** Lowest value of `GB_FILL_INTEGERS`; the bits of a `uint64_t` for `GB_U64`. */
  int64_t low;
  /** Lower bound or mean. */
  double a;
  /** Upper bound or standard deviation. */
  double b;
  /** Separates the tensors of a window. */
  uint32_t tensor;
  /** A `gb_dtype`. */
  uint32_t dtype;
  /** A `gb_fill_kind`. */
  uint32_t kind;
  /** Zero. */
  uint32_t reserved;
};

/** Writes noise bytes. */
struct gb_noise_args {
  /** First byte; any alignment. */
  uint64_t out;
  /** Bytes. */
  uint64_t bytes;
  /** Key of the noise. */
  uint64_t key;
  /** Offset of the first byte in the stream of the key. */
  uint64_t offset;
};

/** Compares bytes with the noise that was written there. */
struct gb_noise_check_args {
  /** First byte; any alignment. */
  uint64_t ptr;
  /** Bytes. */
  uint64_t bytes;
  /** Key of the noise. */
  uint64_t key;
  /** Offset of the first byte in the stream of the key. */
  uint64_t offset;
  /** `partial_count` times `gb_noise_partial`; all are written. */
  uint64_t partials;
  /** At least 1. At most this many reporters work: blocks on a GPU, threads on the CPU device. */
  uint64_t partial_count;
};

/** The findings of one reporter of `gb_noise_check`. */
struct gb_noise_partial {
  /** Bytes compared. */
  uint64_t checked;
  /** Bytes that differ. */
  uint64_t different;
  /** Lowest differing offset from `ptr`, or `GB_NO_INDEX`. */
  uint64_t first;
  /** Highest differing offset from `ptr`, or `GB_NO_INDEX`. */
  uint64_t last;
};

/** Copies some 128-byte lines of a buffer. */
struct gb_lines_args {
  /** Start of the target buffer. */
  uint64_t target;
  /** Start of the source buffer. */
  uint64_t source;
  /** Bytes of each buffer; the last line may be short. */
  uint64_t bytes;
  /** Chooses the lines. */
  uint64_t key;
  /** Lines to copy; all if there are fewer. */
  uint64_t lines;
};

/** Buffers that one launch of `gb_reveal` or `gb_twin` can take. */
#define GB_BUFFERS_EACH 8

/** Takes the time, then copies some lines of several buffers. */
struct gb_reveal_args {
  /** Only the first `count` are used. */
  struct gb_lines_args buffers[GB_BUFFERS_EACH];
  /** Buffers. */
  uint64_t count;
  /** Address of a `uint64_t` for nanoseconds of the device clock, or 0 to take no time. */
  uint64_t out;
};

/** How a `gb_twin` accesses a buffer. */
enum gb_twin_access {
  /** Loads from it. */
  GB_TWIN_READ = 1,
  /** Stores to it. */
  GB_TWIN_WRITE = 2,
};

/** A buffer of a case. */
struct gb_twin_buffer {
  /** Start, aligned to 16 bytes. */
  uint64_t ptr;
  /** Bytes; a remainder below 16 is left out. */
  uint64_t bytes;
  /** A sum of `gb_twin_access`. */
  uint64_t access;
};

/** Loads what a case reads and stores to what it writes. */
struct gb_twin_args {
  /** Only the first `count` are used. */
  struct gb_twin_buffer buffers[GB_BUFFERS_EACH];
  /** Buffers. */
  uint64_t count;
  /** Index from 0 of the part of every buffer, of `parts` equal parts, that this launch goes
   * through. */
  uint64_t part;
  /** At least 1. */
  uint64_t parts;
  /** Where a `uint64_t` may be written, so that the compiler cannot remove the loads. */
  uint64_t sink;
};

/** Goes through a flush buffer. */
struct gb_flush_args {
  /** Start, aligned to 16 bytes. */
  uint64_t ptr;
  /** Bytes; a remainder below 16 is left out. */
  uint64_t bytes;
  /** Where a `uint64_t` may be written, so that the compiler cannot remove the loads. */
  uint64_t sink;
  /** A `gb_flush_kind`. */
  uint32_t kind;
  /** Zero. */
  uint32_t reserved;
};

/** The keys of a digest, read by the kernel when it runs. */
struct gb_digest_keys {
  /** Key of the digest itself. */
  uint64_t digest;
  /** Key of the order in which tiles are chosen and visited. */
  uint64_t order;
};

/** Digests some or all tiles of a buffer. */
struct gb_digest_args {
  /** Start of the buffer. */
  uint64_t ptr;
  /** Bytes; the last word is padded with zeros. */
  uint64_t bytes;
  /** Address of `gb_digest_keys`. They may be written until the kernel runs. */
  uint64_t keys;
  /** Bytes of a tile: a positive multiple of 16. */
  uint64_t tile_bytes;
  /** Tiles to visit; 0 for all. */
  uint64_t tiles;
  /** A `uint64_t` to which the digest is added, modulo 2^64. */
  uint64_t out;
};

/** Compares a tensor with the expected one. */
struct gb_check_args {
  /** First element of the tensor under test. */
  uint64_t got;
  /** First element of the expected tensor. */
  uint64_t expected;
  /** Elements. */
  uint64_t len;
  /** Relative tolerance. */
  double rtol;
  /** Absolute tolerance. */
  double atol;
  /** Key of the noise that was written to `got` before the call. */
  uint64_t poison_key;
  /** Offset of the first byte of `got` in that stream. */
  uint64_t poison_offset;
  /** Elements that follow each other in that stream, as in `got`; 0 if all do. */
  uint64_t poison_row;
  /** Bytes in that stream from the start of one such row to the next. */
  uint64_t poison_pitch;
  /** Key of the order in which the tensor is visited. */
  uint64_t order_key;
  /** `partial_count` times `gb_check_partial`; all are written. */
  uint64_t partials;
  /** At least 1. At most this many reporters work: blocks on a GPU, threads on the CPU device. */
  uint64_t partial_count;
  /** A `gb_dtype`. */
  uint32_t dtype;
  /** A `gb_check_mode`. */
  uint32_t mode;
};

/** The findings of one reporter of `gb_check`. */
struct gb_check_partial {
  /** Elements compared. */
  uint64_t checked;
  /** Elements that satisfy the rule. */
  uint64_t matched;
  /** Wrong elements that still hold their noise. */
  uint64_t unwritten;
  /** Wrong elements that are NaN or infinite where the expected one is finite. */
  uint64_t non_finite;
  /** Elements whose bits equal those of the first element of the tensor. */
  uint64_t same_as_first;
  /** Lowest index of a wrong element, or `GB_NO_INDEX`. */
  uint64_t first_wrong;
  /** Index of the largest error, or `GB_NO_INDEX` if there is none. */
  uint64_t worst;
  /** The error at `worst`. An error that is not a number counts as infinite and largest. */
  double worst_error;
  /** Largest |got - expected| where both are finite. */
  double max_abs;
  /** Largest |got - expected| / |expected| where both are finite and expected is not zero. */
  double max_rel;
};

/** Writes the device's clock. */
struct gb_stamp_args {
  /** Address of a `uint64_t` for nanoseconds. */
  uint64_t out;
};

#endif
