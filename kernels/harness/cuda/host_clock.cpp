// The CPU device's clock. On its own, so that the kernels need nothing of the system.
#include <stdint.h>
#include <time.h>

extern "C" uint64_t gb_host_clock() {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
