// `gb_stamp`: the device's clock in nanoseconds, read when the stream reaches it.
#pragma once

#include "work.cuh"

#if defined(__GPUBENCH_CPU__)
extern "C" uint64_t gb_host_clock();
#endif

namespace gb {

GB_INLINE uint64_t device_clock() {
#if !defined(__GPUBENCH_CPU__)
  uint64_t now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now)::"memory");
  return now;
#else
  return gb_host_clock();
#endif
}

}  // namespace gb

GB_KERNEL(1) gb_stamp(gb_stamp_args a) {
  gb::after_earlier_work();
  if (gb::share_of_thread().first == 0) *(volatile uint64_t *)a.out = gb::device_clock();
}
