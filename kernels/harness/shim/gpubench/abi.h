/* The interface between compiled kernels and the executor of the CPU device. Plain C: the
 * executor mirrors it in `device/cpu/executor/abi.rs`. */
#ifndef GPUBENCH_ABI_H
#define GPUBENCH_ABI_H

#include <stddef.h>
#include <stdint.h>

#define GB_ABI 1u

#ifdef __cplusplus
extern "C" {
#endif

/* Why a thread returns control before its end. */
enum gb_wait {
  GB_WAIT_BARRIER = 1,   /* block barrier; `value` is a predicate, `arg` a gb_vote */
  GB_WAIT_WARP = 2,      /* warp barrier */
  GB_WAIT_SHUFFLE = 3,   /* `value` is offered, `arg` is the lane read from */
  GB_WAIT_BALLOT = 4,    /* `value` is a predicate; answers votes in the low and participants in the high word */
  GB_WAIT_MATCH_ANY = 5, /* answers the lanes with an equal `value` */
  GB_WAIT_MATCH_ALL = 6, /* answers the participants if all values are equal, else 0 */
  GB_WAIT_ACTIVE = 7,    /* answers the lanes that wait at the same place */
  GB_WAIT_REDUCE = 8,    /* `arg` is a gb_reduction of 32-bit values */
  GB_WAIT_PARK = 9       /* the thread has ended; answers the next range of threads to run as GB_RANGE, or 0 to return */
};

/* The result of a block barrier. */
enum gb_vote { GB_VOTE_NONE = 0, GB_VOTE_COUNT = 1, GB_VOTE_AND = 2, GB_VOTE_OR = 3 };

/* How a warp reduction combines. */
enum gb_reduction {
  GB_REDUCE_ADD = 0, GB_REDUCE_MIN = 1, GB_REDUCE_MAX = 2, GB_REDUCE_AND = 3,
  GB_REDUCE_OR = 4, GB_REDUCE_XOR = 5, GB_REDUCE_MIN_SIGNED = 6, GB_REDUCE_MAX_SIGNED = 7
};

/* Why a kernel stops itself. */
enum gb_stop { GB_STOP_TRAP = 1, GB_STOP_ASSERT = 2 };

/* Threads `first`..`end`, as the result of GB_WAIT_PARK. */
#define GB_RANGE_FIRST(range) ((uint32_t)(range) - 1u)
#define GB_RANGE_END(range) ((uint32_t)((range) >> 32))

/* A request of a thread. It is on the stack of the thread while it waits. */
typedef struct gb_request {
  uint32_t kind;   /* gb_wait */
  uint32_t line;   /* of the call */
  uint32_t mask;   /* lanes named by the call */
  uint32_t arg;
  uint64_t value;
  uint32_t thread; /* linear index in the block */
  uint32_t reserved;
  uint64_t stack, frame, place; /* where to go on, see gb_callbacks.wait */
} gb_request;

/* The executor's functions for kernels. `worker` is the pointer given to gb_unit.begin.
 *
 * On x86-64 `wait` is jumped to, not called, and jumps back: to `place`, with `stack` and
 * `frame` in their registers, the result in rax, and everything else lost. The executor switches
 * to another thread in between. With calls and returns, the processor's return predictor would
 * be wrong twice for every wait, because it expects returns in the order of the calls: measured
 * 40 instead of 15 to 22 ns. Elsewhere `wait` is an ordinary function. */
typedef struct gb_callbacks {
  uint64_t (*wait)(void *worker, const gb_request *request);
  void (*stop)(void *worker, uint32_t kind, uint32_t line, uint32_t thread);
} gb_callbacks;

/* Shape of a launch. */
typedef struct gb_shape {
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t dynamic_shared;
} gb_shape;

/* The state of one translation unit on the calling OS thread. */
typedef struct gb_unit {
  void (*install)(const gb_callbacks *callbacks);
  void (*begin)(void *worker, const gb_shape *shape, const void *const *arguments);
  void (*block)(uint32_t x, uint32_t y, uint32_t z);
  void (*thread)(uint32_t index[3]); /* the thread that ran last */
} gb_unit;

/* Runs threads `first`..`end` (linear) of the current block one after the other, or until the
 * end of a thread that has waited. That thread then parks. */
typedef void (*gb_threads)(uint32_t first, uint32_t end);

/* One exported kernel instantiation. */
typedef struct gb_kernel {
  uint32_t abi;
  uint32_t param_count;
  const uint32_t *param_sizes; /* bytes of each parameter */
  const char *name;            /* the name expression, e.g. "axpy" or "reduce<256>" */
  const gb_unit *unit;
  gb_threads fast;    /* for grid.x * block.x below 2^31 - 1024; always runs to the end of the block */
  gb_threads precise; /* any grid; the index of a thread that faults is exact; stops at `end` */
} gb_kernel;

/* What `gb_module_v1` of a kernel library returns. */
typedef struct gb_module {
  uint32_t abi;
  uint32_t count;
  const gb_kernel *const *kernels;
} gb_module;

#ifdef __cplusplus
}
#endif

#endif
