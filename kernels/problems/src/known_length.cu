// Spins for a known time. The kernel reads the device's clocks first and last, and returns the
// differences.
#ifdef __GPUBENCH_CPU__
#include <time.h>
#endif

// The clock in nanoseconds.
static __device__ unsigned long long now_ns() {
#ifdef __GPUBENCH_CPU__
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000ull + now.tv_nsec;
#else
  unsigned long long now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now)::"memory");
  return now;
#endif
}

// For one block. Its first thread spins until at least `ns` nanoseconds have gone by. `y` is the
// complement of `x`, so that the answer to a call is right only for the inputs of that call.
__global__ void spin(const unsigned *x, unsigned *y, double *elapsed_ns, double *cycles, size_t n,
                     unsigned long long ns) {
  const unsigned long long began = now_ns();
  const long long first_cycle = clock64();
  for (size_t i = threadIdx.x; i < n; i += blockDim.x) y[i] = ~x[i];
  if (threadIdx.x != 0) return;
  unsigned long long now = began;
  do {
    now = now_ns();
  } while (now - began < ns);
  *cycles = static_cast<double>(clock64() - first_cycle);
  *elapsed_ns = static_cast<double>(now - began);
}
