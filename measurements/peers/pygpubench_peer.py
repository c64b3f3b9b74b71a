"""PyGPUBench's measurement of add1: checked calls in an isolated process, with the cache discarded before each."""

import time

import torch

from add1 import SIZES, row


def make_case(n, *rest):
    generator = torch.Generator(device="cuda")
    generator.manual_seed((rest[-1] if rest else 0) & 0x7FFFFFFF)
    x = torch.rand(n, device="cuda", generator=generator)
    return (torch.empty_like(x), x), (x + 1, 1e-6, 1e-6)


def kernel():
    import add1

    def call(arguments):
        y, x = arguments
        add1.launch(x.data_ptr(), y.data_ptr(), x.numel())

    return call


if __name__ == "__main__":
    import pygpubench

    for n in SIZES:
        repeats = 100 if n < 1 << 26 else 20
        started = time.time()
        result = pygpubench.do_bench_isolated(kernel, make_case, (n,), repeats, 5, discard=True)
        wall = time.time() - started
        times = sorted(time_us for time_us in result.time_us if time_us)
        if result.errors or not times:
            raise SystemExit(f"error: PyGPUBench: {result.errors}")
        row("PyGPUBench", n, times[len(times) // 2], wall, f"{len(times)} calls")
