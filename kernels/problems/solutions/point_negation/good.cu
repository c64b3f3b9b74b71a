/* gpubench
grid = "ceil_div(n, 512)"
block = 256
*/
__device__ inline ulonglong2 negative(ulonglong2 point) {
  if (point.y != 0) point.y = 0xffffffff00000001ull - point.y;
  return point;
}

// Two points a thread, a block apart, each with one load and one store of 16 bytes. Both loads are
// under way before the first store.
__global__ void __launch_bounds__(256) negate(const ulonglong2 *__restrict__ points, ulonglong2 *__restrict__ negatives, size_t n) {
  const size_t first = blockIdx.x * static_cast<size_t>(512) + threadIdx.x, second = first + 256;
  ulonglong2 one = {}, two = {};
  if (first < n) one = points[first];
  if (second < n) two = points[second];
  if (first < n) negatives[first] = negative(one);
  if (second < n) negatives[second] = negative(two);
}
