// The kernel of known length as a library for the CPU device.
#include "gpubench/cuda.h"

#include "spin.cuh"

GB_EXPORT(spin, gb_spin)
GB_MODULE(&gb_kernel_spin)
