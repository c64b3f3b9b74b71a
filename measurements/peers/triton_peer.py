"""triton.testing.do_bench of add1, which overwrites a buffer larger than the cache before each call."""

import time

import torch
import triton

from add1 import SIZES, launch, row

for n in SIZES:
    x, y = torch.rand(n, device="cuda"), torch.empty(n, device="cuda")
    launch(x.data_ptr(), y.data_ptr(), n)
    torch.cuda.synchronize()
    started = time.time()
    median_ms = triton.testing.do_bench(lambda: launch(x.data_ptr(), y.data_ptr(), n), return_mode="median")
    row("triton do_bench", n, 1e3 * median_ms, time.time() - started, "nothing")
