// The tile of a block is copied to shared memory by the tensor memory accelerator, one request of
// one thread; a barrier in shared memory says when all of its bytes are there.

// What the driver encodes; its bytes are the accelerator's business.
struct alignas(64) TensorMap {
  unsigned char bytes[128];
};

constexpr int TILE = 32;
constexpr int LINES = 8;

__device__ inline unsigned int shared_address(const void *pointer) {
  return static_cast<unsigned int>(__cvta_generic_to_shared(pointer));
}

__device__ inline void expect_one_arrival(unsigned long long *barrier) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(barrier)) : "memory");
  // The accelerator sees the barrier as it was before, without this.
  asm volatile("fence.mbarrier_init.release.cluster;\n\tfence.proxy.async.shared::cta;" ::: "memory");
}

// Arrives, and has the barrier wait for the bytes that are copied.
__device__ inline void copy_tile(float *tile, const TensorMap &map, int column, int row, unsigned long long *barrier) {
  constexpr unsigned int BYTES = TILE * TILE * sizeof(float);
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(BYTES) : "memory");
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
                   shared_address(tile)),
               "l"(&map), "r"(column), "r"(row), "r"(shared_address(barrier))
               : "memory");
}

__device__ inline void wait_for_bytes(unsigned long long *barrier) {
  unsigned int there = 0;
  while (there == 0) {
    asm volatile("{\n\t.reg .pred there;\n\tmbarrier.try_wait.parity.shared::cta.b64 there, [%1], 0;\n\tselp.u32 %0, 1, 0, there;\n\t}"
                 : "=r"(there)
                 : "r"(shared_address(barrier))
                 : "memory");
  }
}

// A tile a block. The map has its rows of 128 bytes swizzled: the piece of 16 bytes at `piece` of
// row `row` is at `piece ^ row % 8`, so that the words of a column lie in eight times four banks
// and not all in one.
__global__ void __launch_bounds__(TILE *LINES) tensor_map(const __grid_constant__ TensorMap x, float *__restrict__ y, size_t rows,
                                                          size_t columns) {
  __shared__ alignas(1024) float tile[TILE][TILE];
  __shared__ unsigned long long barrier;
  const int left = blockIdx.x * TILE, top = blockIdx.y * TILE;
  if (threadIdx.x == 0 && threadIdx.y == 0) {
    expect_one_arrival(&barrier);
    copy_tile(&tile[0][0], x, left, top, &barrier);
  }
  // No thread waits at a barrier that has not been made.
  __syncthreads();
  wait_for_bytes(&barrier);
  const int in_tile = threadIdx.x;
  for (int line = threadIdx.y; line < TILE; line += LINES) {
    const size_t column = left + static_cast<size_t>(line), row = top + static_cast<size_t>(in_tile);
    const float element = tile[in_tile][(line / 4 ^ in_tile % 8) * 4 + line % 4];
    if (row < rows && column < columns) y[column * rows + row] = element;
  }
}
