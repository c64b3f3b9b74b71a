// The expected loss, where the batch is too large for the CPU: one row a thread, in double, and one
// thread for the mean.
__global__ void loss_of_row(const float *__restrict__ anchor, const float *__restrict__ positive, const float *__restrict__ negative,
                            double *__restrict__ losses, size_t batch, size_t width, double margin) {
  const size_t row = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (row >= batch) return;
  double near = 0.0, far = 0.0;
  for (size_t i = row * width; i < (row + 1) * width; i++) {
    const double a = anchor[i], p = positive[i], n = negative[i];
    near += (a - p) * (a - p);
    far += (a - n) * (a - n);
  }
  const double loss = sqrt(near) - sqrt(far) + margin;
  losses[row] = loss > 0.0 ? loss : 0.0;
}

__global__ void mean(const double *__restrict__ losses, float *__restrict__ loss, size_t batch) {
  double sum = 0.0;
  for (size_t row = batch; row-- > 0;) sum += losses[row];
  *loss = static_cast<float>(sum / batch);
}
