// The harness kernels for the CPU device: the shim, the same sources, and a table of descriptors.
#include "gpubench/cuda.h"

#include "harness.cu"

GB_EXPORT(fill, gb_fill)
GB_EXPORT(noise, gb_noise)
GB_EXPORT(noise_check, gb_noise_check)
GB_EXPORT(lines, gb_lines)
GB_EXPORT(flush, gb_flush)
GB_EXPORT(digest, gb_digest)
GB_EXPORT(check, gb_check)
GB_EXPORT(stamp, gb_stamp)
GB_EXPORT(reveal, gb_reveal)
GB_EXPORT(twin, gb_twin)

extern "C" const gb_kernel *const *gb_harness_kernels(size_t *count) {
  static const gb_kernel *const kernels[] = {
      &gb_kernel_fill,   &gb_kernel_noise,  &gb_kernel_noise_check, &gb_kernel_lines,
      &gb_kernel_flush,  &gb_kernel_digest, &gb_kernel_check,       &gb_kernel_stamp,
      &gb_kernel_reveal, &gb_kernel_twin,
  };
  *count = sizeof(kernels) / sizeof(kernels[0]);
  return kernels;
}

// The order in which lines, tiles and elements are visited, where tests can reach counts for which
// there is no memory.
extern "C" uint64_t gb_harness_permuted(uint64_t count, uint64_t key, uint64_t index) {
  return gb::permuted(gb::permutation_of(count, key), index);
}
