// Reductions with what came with compute capability 9.0: launches that start early, and blocks that
// reach each other's shared memory.
#include "device/block.cuh"

__device__ inline float grid_stride_sum(const float *__restrict__ x, size_t n) {
  const size_t stride = gridDim.x * static_cast<size_t>(blockDim.x);
  float sum = 0.0f;
  for (size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; i < n; i += stride) sum += x[i];
  return sum;
}

// One sum a block. The next launch may start at once: its blocks are then there when the last of
// these ends.
template <int THREADS>
__global__ void __launch_bounds__(THREADS) first_of_pair(const float *__restrict__ x, float *__restrict__ sums, size_t n) {
  asm volatile("griddepcontrol.launch_dependents;");
  const float sum = block_reduce<Sum, THREADS>(grid_stride_sum(x, n));
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

// The sum of those, which are there once the launch in front has ended. They were not when this
// kernel started, so they are not read through the cache for what never changes.
template <int THREADS>
__global__ void __launch_bounds__(THREADS) second_of_pair(const float *sums, float *sum, unsigned int blocks) {
  asm volatile("griddepcontrol.wait;" ::: "memory");
  float own = 0.0f;
  for (unsigned int i = threadIdx.x; i < blocks; i += THREADS) own += sums[i];
  const float all = block_reduce<Sum, THREADS>(own);
  if (threadIdx.x == 0) *sum = all;
}

__device__ inline unsigned int rank_in_cluster() {
  unsigned int rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

__device__ inline void cluster_barrier() {
  asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// Stores to the same variable in the shared memory of another block of the cluster.
__device__ inline void store_to_block(const float *variable, unsigned int rank, float value) {
  const unsigned int own = static_cast<unsigned int>(__cvta_generic_to_shared(variable));
  unsigned int there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(own), "r"(rank));
  asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(there), "f"(value) : "memory");
}

// One sum a cluster: its blocks hand theirs to the first one through shared memory.
template <int THREADS, int BLOCKS>
__global__ void __launch_bounds__(THREADS) across_cluster(const float *__restrict__ x, float *__restrict__ sums, size_t n) {
  __shared__ float of_block[BLOCKS];
  const unsigned int rank = rank_in_cluster();
  // Shared memory of a block that has not started is not there yet.
  cluster_barrier();
  const float sum = block_reduce<Sum, THREADS>(grid_stride_sum(x, n));
  if (threadIdx.x == 0) store_to_block(&of_block[rank], 0, sum);
  cluster_barrier();
  if (rank != 0 || threadIdx.x != 0) return;
  float all = 0.0f;
#pragma unroll
  for (int block = 0; block < BLOCKS; block++) all += of_block[block];
  sums[blockIdx.x / BLOCKS] = all;
}
