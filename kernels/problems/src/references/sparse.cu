#include "../device/random.cuh"

constexpr unsigned int ENTRIES_PER_ROW = 8;

// Lengths of seven rows of every eight, in an order that begins somewhere else in each eight; the
// fourth row is empty.
__device__ inline unsigned int length_of_row(unsigned int row) {
  if (row % 8 == 3) return 0;
  const unsigned int place = row % 8 - (row % 8 > 3);
  switch ((place + random_bits(0, row / 8)) % 7) {
    case 0: return 1;
    case 1: return 14;
    case 2: return 5;
    case 3: return 18;
    case 4: return 3;
    case 5: return 11;
    default: return 8;
  }
}
constexpr unsigned int ENTRIES_OF_EIGHT = 60;

// The row that has entries in half of the columns, in addition to those of its position.
__device__ inline unsigned int long_row(unsigned int rows) { return rows / 16 * 5; }

// Entries in front of a row. The last row has what is left, or rows end early.
__device__ inline unsigned int start_of_row(unsigned int row, unsigned int rows) {
  const unsigned int others = ENTRIES_PER_ROW * rows - rows / 2;
  unsigned int start = row / 8 * ENTRIES_OF_EIGHT;
  for (unsigned int before = row / 8 * 8; before < row; before++) start += length_of_row(before);
  if (start > others || row == rows) start = others;
  return row > long_row(rows) ? start + rows / 2 : start;
}

__global__ void write_row_starts(unsigned int *out, size_t n, unsigned long long) {
  const size_t row = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (row < n) out[row] = start_of_row(static_cast<unsigned int>(row), static_cast<unsigned int>(n - 1));
}

// Columns of a row are divided evenly among its entries, and each entry is somewhere in its share;
// so they are distinct and ascend.
__global__ void write_columns(unsigned int *out, size_t n, unsigned long long seed) {
  const size_t entry = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (entry >= n) return;
  const unsigned int rows = static_cast<unsigned int>(n / ENTRIES_PER_ROW);
  // The last row that starts at the entry or before it.
  unsigned int row = 0, end = rows;
  while (end - row > 1) {
    const unsigned int middle = row + (end - row) / 2;
    if (start_of_row(middle, rows) <= entry) row = middle;
    else end = middle;
  }
  const unsigned long long start = start_of_row(row, rows), length = start_of_row(row + 1, rows) - start;
  const unsigned long long from = (entry - start) * rows / length, to = (entry - start + 1) * rows / length;
  out[entry] = static_cast<unsigned int>(from + random_bits(seed, entry) % (to - from));
}

// y = A x with A in compressed rows: the entries of row r are those from row_start[r] to
// row_start[r + 1].

// The expected vector, where the matrix is too large for the CPU: one row a block of 64 threads, in
// integers, which all factors are.
__global__ void in_integers(const unsigned int *__restrict__ row_start, const unsigned int *__restrict__ column,
                            const float *__restrict__ value, const float *__restrict__ x, float *__restrict__ y) {
  __shared__ int sums[64];
  int sum = 0;
  for (unsigned int i = row_start[blockIdx.x] + threadIdx.x; i < row_start[blockIdx.x + 1]; i += 64) {
    sum += static_cast<int>(value[i]) * static_cast<int>(x[column[i]]);
  }
  sums[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int other = 1; other < 64; other++) sum += sums[other];
  y[blockIdx.x] = static_cast<float>(sum);
}
