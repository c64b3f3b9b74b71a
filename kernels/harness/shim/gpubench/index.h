/* The state of a running thread: its indices and the extents of the launch.
 *
 * There is one static object per OS thread, and its address is never taken. No store through a
 * kernel's pointer can alias it, so in a kernel without barriers the compiler keeps all of it in
 * registers and vectorises the loop over the threads. For the same reason it is never copied
 * whole. A unit that is linked statically must be the only one of its executable that runs
 * kernels: templates and inline functions of two units would be merged although they name
 * different objects.
 *
 * Compile with -fno-tree-slp-vectorize: writing neighbouring members with one vector store takes
 * the object's address. */
#pragma once

struct gb_index {
  unsigned int x, y, z;
  constexpr operator uint3() const { return {x, y, z}; }
  constexpr operator dim3() const { return {x, y, z}; }
};

struct gb_state {
  gb_index thread, block, block_dim, grid_dim;
  unsigned int waited, dynamic_shared;
  void *worker;
  const void *const *arguments;
};

static thread_local gb_state gb_now;
static gb_callbacks gb_executor;

#define threadIdx (gb_now.thread)
#define blockIdx (gb_now.block)
#define blockDim (gb_now.block_dim)
#define gridDim (gb_now.grid_dim)
static constexpr int warpSize = 32;

static inline unsigned int gb_linear_thread() {
  return gb_now.thread.x + gb_now.block_dim.x * (gb_now.thread.y + gb_now.block_dim.y * gb_now.thread.z);
}

/* Enters gb_callbacks.wait. */
#if defined(__x86_64__)
static inline __attribute__((always_inline)) uint64_t gb_wait_at(gb_request *request) {
  uint64_t answer;
  void *worker = gb_now.worker;
  auto wait = gb_executor.wait;
  /* Moves the stack pointer past the red zone, in which this function may keep variables, as
   * after a call. */
  __asm__ volatile(
      "mov %%rsp, %c[stack](%%rsi)\n\t"
      "mov %%rbp, %c[frame](%%rsi)\n\t"
      "lea 1f(%%rip), %%rax\n\t"
      "mov %%rax, %c[place](%%rsi)\n\t"
      "lea -128(%%rsp), %%rsp\n\t"
      "and $-16, %%rsp\n\t"
      "sub $8, %%rsp\n\t"
      "jmp *%%rdx\n"
      "1:"
      : "=a"(answer), "+D"(worker), "+S"(request), "+d"(wait)
      : [stack] "i"(offsetof(gb_request, stack)), [frame] "i"(offsetof(gb_request, frame)),
        [place] "i"(offsetof(gb_request, place))
      : "memory", "cc", "rbx", "rcx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1", "xmm2", "xmm3",
        "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "st", "st(1)",
        "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)"
#if defined(__AVX512F__)
        , "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", "xmm27", "xmm28",
        "xmm29", "xmm30", "xmm31", "k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7"
#endif
  );
  return answer;
}
#else
static inline uint64_t gb_wait_at(gb_request *request) {
  __asm__ volatile("" ::: "memory");
  const uint64_t answer = gb_executor.wait(gb_now.worker, request);
  __asm__ volatile("" ::: "memory");
  return answer;
}
#endif

/* Gives control to the executor until it answers. Other threads run meanwhile, so this thread's
 * identity is restored afterwards. */
static inline uint64_t gb_wait_for(uint32_t kind, uint32_t line, uint32_t mask, uint32_t arg, uint64_t value) {
  const unsigned int x = gb_now.thread.x, y = gb_now.thread.y, z = gb_now.thread.z;
  gb_request request;
  request.kind = kind;
  request.line = line;
  request.mask = mask;
  request.arg = arg;
  request.value = value;
  request.thread = gb_linear_thread();
  request.reserved = 0;
  const uint64_t answer = gb_wait_at(&request);
  gb_now.thread.x = x;
  gb_now.thread.y = y;
  gb_now.thread.z = z;
  gb_now.waited = 1;
  return answer;
}

[[noreturn]] static inline void gb_stop_here(uint32_t kind, uint32_t line) {
  gb_executor.stop(gb_now.worker, kind, line, gb_linear_thread());
  __builtin_unreachable();
}
