/* gpubench
kernel = "eight_threads_a_block"
grid = "ceil_div(blocks, 32)"
block = 256
arguments = ["x", "q", "scale", "blocks"]
*/

#include <cuda_fp8.h>

// Four elements a thread, in one load and one store, and eight threads a block of 32 elements. They
// find the largest magnitude among themselves.
__global__ void __launch_bounds__(256) eight_threads_a_block(const float *__restrict__ x, unsigned char *__restrict__ q,
                                                             unsigned char *__restrict__ scale, size_t blocks) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x, block = i / 8;
  const float4 in = block < blocks ? reinterpret_cast<const float4 *>(x)[i] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  float largest = fmaxf(fmaxf(fabsf(in.x), fabsf(in.y)), fmaxf(fabsf(in.z), fabsf(in.w)));
  for (int apart = 4; apart > 0; apart /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, apart));
  if (block >= blocks) return;
  // The exponent of a float has the bias of the scale.
  const int exponent = static_cast<int>(__float_as_uint(largest) >> 23) - 8;
  const unsigned int biased = exponent < 0 ? 0 : exponent;
  const float factor = __uint_as_float((254 - biased) << 23);
  const unsigned int low = __nv_cvt_float2_to_fp8x2(make_float2(in.x * factor, in.y * factor), __NV_SATFINITE, __NV_E4M3);
  const unsigned int high = __nv_cvt_float2_to_fp8x2(make_float2(in.z * factor, in.w * factor), __NV_SATFINITE, __NV_E4M3);
  reinterpret_cast<unsigned int *>(q)[i] = high << 16 | low;
  if (i % 8 == 0) scale[block] = static_cast<unsigned char>(biased);
}
