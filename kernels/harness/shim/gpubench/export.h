/* Turns a kernel into a descriptor that the executor can run.
 *
 *     GB_EXPORT(id, expression)     a kernel with the expression as its name:
 *                                   GB_EXPORT(axpy, axpy), GB_EXPORT(r256, reduce<256>)
 *     GB_EXPORT_AS(id, "name", expression)
 *
 * define `extern "C" const gb_kernel gb_kernel_<id>`. GB_MODULE(&gb_kernel_a, ...) makes the
 * entry point of a loadable library. */
#pragma once

/* The macros below are expanded after a source, whose own macros are still defined there. Their
 * expansions therefore use only keywords and names with `gb_`. */

/* Whether the type of a constant is that of a kernel's address. */
template <class T>
constexpr bool gb_is_kernel = false;
template <class... P>
constexpr bool gb_is_kernel<void (*const)(P...)> = true;
template <class... P>
constexpr bool gb_is_kernel<void (*const)(P...) noexcept> = true;

/* Whether it has no reference parameter, which would refer to host memory. */
template <class T>
constexpr bool gb_takes_values = true;
template <class... P>
constexpr bool gb_takes_values<void (*const)(P...)> = !(std::is_reference_v<P> || ...);
template <class... P>
constexpr bool gb_takes_values<void (*const)(P...) noexcept> = !(std::is_reference_v<P> || ...);

template <auto Kernel, bool Precise>
struct gb_run;

template <class... P, void (*Kernel)(P...), bool Precise>
struct gb_run<Kernel, Precise> {
  static constexpr uint32_t gb_sizes[] = {sizeof(P)..., 0};
  static constexpr uint32_t gb_count = sizeof...(P);

  __attribute__((noinline, flatten)) static void gb_run_threads(uint32_t first, uint32_t end) {
    while (with(first, end, gb_now.arguments, std::index_sequence_for<P...>{})) {
      const uint64_t range = gb_wait_for(GB_WAIT_PARK, 0, 0, 0, 0);
      if (range == 0) return;
      first = GB_RANGE_FIRST(range);
      end = GB_RANGE_END(range);
    }
  }

 private:
  template <size_t... I>
  static inline __attribute__((always_inline)) bool with(uint32_t first, uint32_t end, const void *const *arguments,
                                                         std::index_sequence<I...>) {
    return loop(first, end, *static_cast<const std::remove_cv_t<P> *>(arguments[I])...);
  }

  /* Whether the last thread has waited, so that others run elsewhere. */
  static inline __attribute__((always_inline)) bool loop(uint32_t first, uint32_t end, const std::remove_cv_t<P>... argument) {
    const unsigned int bx = gb_now.block_dim.x, by = gb_now.block_dim.y, bz = gb_now.block_dim.z;
    if constexpr (!Precise) {
      /* Without this, `blockIdx.x * blockDim.x + threadIdx.x` may wrap, and the loop over x is
       * not vectorised. */
      if (gb_now.block.x * bx > 0x7fffffffu - 1024u || bx > 1024u) __builtin_unreachable();
    }
    unsigned int x = first, y = 0, z = 0;
    if (first >= bx) {
      x = first % bx;
      y = first / bx % by;
      z = first / bx / by;
    }
    [[maybe_unused]] uint32_t left = end - first;
    for (; z < bz; z++, y = 0) {
      for (; y < by; y++, x = 0) {
        /* Keeps this loop and the one over x separate. Merged, neither is vectorised. */
        __asm__("" : "+r"(y));
        if constexpr (Precise) {
          for (; x < bx; x++) {
            if (left-- == 0) return false;
            gb_now.thread.x = x;
            gb_now.thread.y = y;
            gb_now.thread.z = z;
            gb_now.waited = 0;
            __asm__ volatile("" ::: "memory");
            Kernel(argument...);
            __asm__ volatile("" ::: "memory");
            if (gb_now.waited) return true;
          }
        } else {
          /* Threads of a block are unordered between barriers. */
#pragma GCC ivdep
          for (; x < bx; x++) {
            gb_now.thread.x = x;
            gb_now.thread.y = y;
            gb_now.thread.z = z;
            gb_now.waited = 0;
            Kernel(argument...);
            if (gb_now.waited) return true;
          }
        }
      }
    }
    return false;
  }
};

/* The entry point of a library. */
extern "C" __attribute__((visibility("default"))) const gb_module *gb_module_v1();

/* The places of `__shared__` variables are counted from this one, which belongs to the executor. */
static thread_local uint64_t gb_shared_origin;
extern "C" __attribute__((visibility("default"))) uint64_t *gb_shared_origin_v1();

static void gb_unit_install(const gb_callbacks *callbacks) {
  gb_executor.wait = callbacks->wait;
  gb_executor.stop = callbacks->stop;
}

static void gb_unit_begin(void *worker, const gb_shape *shape, const void *const *arguments) {
  gb_now.worker = worker;
  gb_now.arguments = arguments;
  gb_now.dynamic_shared = shape->dynamic_shared;
  gb_now.block_dim.x = shape->block[0];
  gb_now.block_dim.y = shape->block[1];
  gb_now.block_dim.z = shape->block[2];
  gb_now.grid_dim.x = shape->grid[0];
  gb_now.grid_dim.y = shape->grid[1];
  gb_now.grid_dim.z = shape->grid[2];
}

static void gb_unit_block(uint32_t x, uint32_t y, uint32_t z) {
  gb_now.block.x = x;
  gb_now.block.y = y;
  gb_now.block.z = z;
}

static void gb_unit_thread(uint32_t index[3]) {
  index[0] = gb_now.thread.x;
  index[1] = gb_now.thread.y;
  index[2] = gb_now.thread.z;
}

static constexpr gb_unit gb_this_unit = {gb_unit_install, gb_unit_begin, gb_unit_block, gb_unit_thread};

#define GB_EXPORT_AS(gb_id, gb_text, ...)                                             \
  extern "C" {                                                                        \
  extern const gb_kernel gb_kernel_##gb_id;                                           \
  const gb_kernel gb_kernel_##gb_id = {GB_ABI,                                        \
                                       gb_run<(__VA_ARGS__), false>::gb_count,        \
                                       gb_run<(__VA_ARGS__), false>::gb_sizes,        \
                                       gb_text,                                       \
                                       &gb_this_unit,                                 \
                                       gb_run<(__VA_ARGS__), false>::gb_run_threads,  \
                                       gb_run<(__VA_ARGS__), true>::gb_run_threads};  \
  }

#define GB_EXPORT(id, ...) GB_EXPORT_AS(id, #__VA_ARGS__, __VA_ARGS__)

/* The table is at namespace scope, because a source that redefines `static` could put a
 * function's variables on its stack. */
#define GB_MODULE(...)                                                                                        \
  constexpr const gb_kernel *gb_module_kernels[] = {__VA_ARGS__};                                             \
  constexpr gb_module gb_this_module = {GB_ABI, sizeof(gb_module_kernels) / sizeof(gb_module_kernels[0]),     \
                                        gb_module_kernels};                                                   \
  extern "C" const gb_module *gb_module_v1() { return &gb_this_module; }                                      \
  extern "C" decltype(gb_shared_origin) *gb_shared_origin_v1() { return &gb_shared_origin; }
