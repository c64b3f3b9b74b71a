// `gb_spin`: runs for a known time. `cargo gpubench calibrate` measures it as it would a user's
// kernel. The kernel reads the device's clocks itself, first and last, and returns the difference.
#pragma once

#include "stamp.cuh"

namespace gb {

// The cycles of the multiprocessor's clock. The CPU device has no such clock.
GB_INLINE uint64_t cycles() {
#if !defined(__GPUBENCH_CPU__)
  uint64_t now;
  asm volatile("mov.u64 %0, %clock64;" : "=l"(now)::"memory");
  return now;
#else
  return 0;
#endif
}

}  // namespace gb

// For one block. Its first thread spins until at least `nanoseconds` have gone by. `y` is the
// complement of `x`, so that the answer to a call is right only for the inputs of that call.
extern "C" __global__ void gb_spin(const uint32_t *x, uint32_t *y, double *elapsed_ns, double *cycles, uint64_t count,
                                   uint64_t nanoseconds) {
  const uint64_t began = gb::device_clock(), first_cycle = gb::cycles();
  for (uint64_t i = threadIdx.x; i < count; i += blockDim.x) y[i] = ~x[i];
  if (threadIdx.x != 0) return;
  uint64_t now = began;
  do {
    now = gb::device_clock();
  } while (now - began < nanoseconds);
  *cycles = (double)(gb::cycles() - first_cycle);
  *elapsed_ns = (double)(now - began);
}
