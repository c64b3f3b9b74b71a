/* gpubench
[[scratch]]
name = "sums"
bytes = "4 * image.len"

[[step]]
kernel = "add_rows"
grid = ["ceil_div(width, 256)", "height"]
block = 256
shared = "256 + 2 * radius"
arguments = ["image", "sums", "width", "radius"]

[[step]]
kernel = "add_columns"
grid = ["ceil_div(width, 256)", "ceil_div(height, 64)"]
block = 256
arguments = ["sums", "blurred", "width", "height", "radius"]
*/
constexpr int THREADS = 256;
constexpr int STRIP = 64;

// Sums along the rows, from pixels in shared memory.
__global__ void __launch_bounds__(THREADS) add_rows(const unsigned char *__restrict__ image, unsigned int *__restrict__ sums, int width,
                                                    int radius) {
  extern __shared__ unsigned char pixels[];
  const int left = blockIdx.x * THREADS, column = left + threadIdx.x;
  const size_t row = static_cast<size_t>(blockIdx.y) * width;
  for (int i = threadIdx.x; i < THREADS + 2 * radius; i += THREADS) {
    const int from = left + i - radius;
    pixels[i] = 0 <= from && from < width ? image[row + from] : 0;
  }
  __syncthreads();
  if (column >= width) return;
  unsigned int sum = 0;
  for (int i = 0; i <= 2 * radius; i++) sum += pixels[threadIdx.x + i];
  sums[row + column] = sum;
}

// Sums of those along the columns: one thread goes down a strip of rows. It adds the row that comes
// in and subtracts the one that goes out.
__global__ void __launch_bounds__(THREADS) add_columns(const unsigned int *__restrict__ sums, float *__restrict__ blurred, int width,
                                                       int height, int radius) {
  const int column = blockIdx.x * THREADS + threadIdx.x;
  if (column >= width) return;
  const int across = min(column + radius, width - 1) - max(column - radius, 0) + 1;
  const int first = blockIdx.y * STRIP, last = min(first + STRIP, height) - 1;
  sums += column;
  blurred += column;
  unsigned int sum = 0;
  for (int row = max(first - radius, 0); row < min(first + radius, height); row++) sum += sums[row * static_cast<size_t>(width)];
  for (int row = first; row <= last; row++) {
    if (row + radius < height) sum += sums[(row + radius) * static_cast<size_t>(width)];
    const int down = min(row + radius, height - 1) - max(row - radius, 0) + 1;
    blurred[row * static_cast<size_t>(width)] = static_cast<float>(sum) / (across * down);
    if (row - radius >= 0) sum -= sums[(row - radius) * static_cast<size_t>(width)];
  }
}
