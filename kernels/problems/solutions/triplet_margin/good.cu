/* gpubench
[[scratch]]
name = "losses"
bytes = "4 * batch"

[[step]]
kernel = "loss_of_row"
grid = "batch"
block = 256
arguments = ["anchor", "positive", "negative", "losses", "width"]

[[step]]
kernel = "mean"
grid = 1
block = 256
arguments = ["losses", "loss", "batch"]
*/
constexpr unsigned int ALL_LANES = 0xffffffffu;
constexpr int THREADS = 256;
constexpr int WARPS = THREADS / 32;

// The sum over the block, for its first thread.
__device__ float block_sum(float value) {
  __shared__ float of_warp[WARPS];
  for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(ALL_LANES, value, distance);
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
  __syncthreads();
  float sum = 0.0f;
  for (int warp = 0; warp < WARPS; warp++) sum += of_warp[warp];
  __syncthreads();
  return sum;
}

struct Squares {
  float near, far;
};

__device__ inline void add(Squares &sum, float anchor, float positive, float negative) {
  const float near = anchor - positive, far = anchor - negative;
  sum.near += near * near;
  sum.far += far * far;
}

// One row a block. Rows of whole groups of four are aligned and read with loads of 16 bytes.
__global__ void __launch_bounds__(THREADS) loss_of_row(const float *__restrict__ anchor, const float *__restrict__ positive,
                                                       const float *__restrict__ negative, float *__restrict__ losses, int width) {
  const size_t start = blockIdx.x * static_cast<size_t>(width);
  anchor += start;
  positive += start;
  negative += start;
  Squares sum = {0.0f, 0.0f};
  if (width % 4 == 0) {
    for (int i = threadIdx.x; i < width / 4; i += THREADS) {
      const float4 a = reinterpret_cast<const float4 *>(anchor)[i];
      const float4 p = reinterpret_cast<const float4 *>(positive)[i];
      const float4 n = reinterpret_cast<const float4 *>(negative)[i];
      add(sum, a.x, p.x, n.x);
      add(sum, a.y, p.y, n.y);
      add(sum, a.z, p.z, n.z);
      add(sum, a.w, p.w, n.w);
    }
  } else {
#pragma unroll 4
    for (int i = threadIdx.x; i < width; i += THREADS) add(sum, anchor[i], positive[i], negative[i]);
  }
  const float near = block_sum(sum.near), far = block_sum(sum.far);
  if (threadIdx.x == 0) losses[blockIdx.x] = fmaxf(0.0f, sqrtf(near) - sqrtf(far) + 4.0f);
}

__global__ void __launch_bounds__(THREADS) mean(const float *__restrict__ losses, float *__restrict__ loss, int batch) {
  float sum = 0.0f;
  for (int row = threadIdx.x; row < batch; row += THREADS) sum += losses[row];
  sum = block_sum(sum);
  if (threadIdx.x == 0) *loss = sum / batch;
}
