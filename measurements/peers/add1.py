"""The kernel y = x + 1 and its sizes, as all tools run it."""

import cupy as cp

SIZES = (1 << 10, 1 << 21, 1 << 26)
THREADS = 256

_KERNEL = cp.RawKernel(
    """extern "C" __global__ void add1(const float *x, float *y, unsigned long long n) {
         const unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
         if (i < n) y[i] = x[i] + 1.0f;
       }""",
    "add1",
)


def launch(x, y, n):
    """Queues the kernel on CuPy's current stream. `x` and `y` are addresses."""
    _KERNEL(((n + THREADS - 1) // THREADS,), (THREADS,), (x, y, cp.uint64(n)))


def row(tool, n, median_us, wall_s, checked):
    """Prints a measurement for table.py."""
    print(f"{tool}\t{n}\t{median_us:.3f}\t{wall_s:.2f}\t{checked}", flush=True)
