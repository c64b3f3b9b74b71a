/* gpubench
kernel = "online"
grid = ["ceil_div(n, 64)", "heads"]
block = 256
arguments = ["q", "k", "v", "out", "n"]
*/

// 64 queries of a head a block, and 32 keys at a time. The scores never leave the block: a running
// maximum and a running sum per query rescale what is added up. The threads form a square of 16 by
// 16. Each has four queries, and two keys of the scores, or four columns of the output.
constexpr int QUERIES = 64, KEYS = 32, WIDTH = 64;

// Of the 16 threads that share their queries: half a warp.
__device__ inline float largest_of_16(float number) {
  for (int apart = 8; apart > 0; apart /= 2) number = fmaxf(number, __shfl_xor_sync(0xffffffff, number, apart));
  return number;
}

__device__ inline float sum_of_16(float number) {
  for (int apart = 8; apart > 0; apart /= 2) number += __shfl_xor_sync(0xffffffff, number, apart);
  return number;
}

__global__ void __launch_bounds__(256) online(const float *__restrict__ q, const float *__restrict__ k, const float *__restrict__ v,
                                              float *__restrict__ out, size_t n) {
  // Queries and keys are transposed. The pitches keep vectors aligned, or spread what is stored
  // over the banks.
  __shared__ alignas(16) float query[WIDTH][QUERIES + 4];
  __shared__ float key[WIDTH][KEYS + 1];
  __shared__ alignas(16) float value[KEYS][WIDTH];
  __shared__ alignas(16) float weight[KEYS][QUERIES + 4];
  const unsigned int thread = threadIdx.x, x = thread % 16, y = thread / 16;
  const size_t first = blockIdx.x * static_cast<size_t>(QUERIES), head = blockIdx.y * n * WIDTH;
  q += head, k += head, v += head, out += head;

  for (unsigned int part = thread; part < QUERIES * WIDTH / 4; part += 256) {
    const unsigned int row = part / 16, column = part % 16 * 4;
    const float4 four = first + row < n ? *reinterpret_cast<const float4 *>(q + (first + row) * WIDTH + column)
                                        : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    // 1 / sqrt(64).
    query[column][row] = 0.125f * four.x;
    query[column + 1][row] = 0.125f * four.y;
    query[column + 2][row] = 0.125f * four.z;
    query[column + 3][row] = 0.125f * four.w;
  }

  float largest[4], sum[4], weighted[4][4] = {};
#pragma unroll
  for (int i = 0; i < 4; i++) largest[i] = -1e30f, sum[i] = 0.0f;

  for (size_t start = 0; start < n; start += KEYS) {
    __syncthreads();
    for (unsigned int part = thread; part < KEYS * WIDTH / 4; part += 256) {
      const unsigned int row = part / 16, column = part % 16 * 4;
      float4 of_k = make_float4(0.0f, 0.0f, 0.0f, 0.0f), of_v = of_k;
      if (start + row < n) {
        of_k = *reinterpret_cast<const float4 *>(k + (start + row) * WIDTH + column);
        of_v = *reinterpret_cast<const float4 *>(v + (start + row) * WIDTH + column);
      }
      key[column][row] = of_k.x;
      key[column + 1][row] = of_k.y;
      key[column + 2][row] = of_k.z;
      key[column + 3][row] = of_k.w;
      *reinterpret_cast<float4 *>(&value[row][column]) = of_v;
    }
    __syncthreads();

    float score[4][2] = {};
#pragma unroll 8
    for (int i = 0; i < WIDTH; i++) {
      const float4 of_q = *reinterpret_cast<const float4 *>(&query[i][4 * y]);
      const float left[4] = {of_q.x, of_q.y, of_q.z, of_q.w};
      const float right[2] = {key[i][x], key[i][x + 16]};
#pragma unroll
      for (int row = 0; row < 4; row++) score[row][0] += left[row] * right[0], score[row][1] += left[row] * right[1];
    }
#pragma unroll
    for (int row = 0; row < 4; row++) {
      if (start + x >= n) score[row][0] = -1e30f;
      if (start + x + 16 >= n) score[row][1] = -1e30f;
      // The first tile has a key, so this is finite.
      const float now = fmaxf(largest[row], largest_of_16(fmaxf(score[row][0], score[row][1])));
      const float rescale = expf(largest[row] - now);
      const float first_weight = expf(score[row][0] - now), second_weight = expf(score[row][1] - now);
      weight[x][4 * y + row] = first_weight;
      weight[x + 16][4 * y + row] = second_weight;
      sum[row] = sum[row] * rescale + sum_of_16(first_weight + second_weight);
      largest[row] = now;
#pragma unroll
      for (int column = 0; column < 4; column++) weighted[row][column] *= rescale;
    }
    __syncthreads();
#pragma unroll 8
    for (int i = 0; i < KEYS; i++) {
      const float4 of_w = *reinterpret_cast<const float4 *>(&weight[i][4 * y]);
      const float4 of_v = *reinterpret_cast<const float4 *>(&value[i][4 * x]);
      const float left[4] = {of_w.x, of_w.y, of_w.z, of_w.w}, right[4] = {of_v.x, of_v.y, of_v.z, of_v.w};
#pragma unroll
      for (int row = 0; row < 4; row++) {
#pragma unroll
        for (int column = 0; column < 4; column++) weighted[row][column] += left[row] * right[column];
      }
    }
  }
#pragma unroll
  for (int row = 0; row < 4; row++) {
    if (first + 4 * y + row < n) {
      const float4 all = make_float4(weighted[row][0] / sum[row], weighted[row][1] / sum[row], weighted[row][2] / sum[row],
                                     weighted[row][3] / sum[row]);
      *reinterpret_cast<float4 *>(out + (first + 4 * y + row) * WIDTH + 4 * x) = all;
    }
  }
}
