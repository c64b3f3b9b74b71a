/* gpubench
[[scratch]]
name = "losses"
bytes = "4 * batch"

[[step]]
kernel = "loss_of_row"
grid = "ceil_div(batch, 64)"
block = 64
arguments = ["anchor", "positive", "negative", "losses", "batch", "width"]

[[step]]
kernel = "mean"
grid = 1
block = 1
arguments = ["losses", "loss", "batch"]
*/
// One row a thread.
__global__ void loss_of_row(const float *anchor, const float *positive, const float *negative, float *losses, int batch, int width) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= batch) return;
  float near = 0.0f, far = 0.0f;
  for (int column = 0; column < width; column++) {
    const size_t i = row * size_t(width) + column;
    near += (anchor[i] - positive[i]) * (anchor[i] - positive[i]);
    far += (anchor[i] - negative[i]) * (anchor[i] - negative[i]);
  }
  losses[row] = fmaxf(0.0f, sqrtf(near) - sqrtf(far) + 4.0f);
}

__global__ void mean(const float *losses, float *loss, int batch) {
  float sum = 0.0f;
  for (int row = 0; row < batch; row++) sum += losses[row];
  *loss = sum / batch;
}
