"""Back-to-back times of add1: Triton's `do_bench_cudagraph` and NVBench's batch.

usage: hot_peers.py N..          all sizes
       hot_peers.py --nvbench N  NVBench's batch of one size, in a process of its own
"""

import csv
import subprocess
import sys
import tempfile
import time

from add1 import launch, row


def triton(n):
    import cupy as cp
    import torch
    import triton

    x, y = torch.rand(n, device="cuda"), torch.empty(n, device="cuda")

    def call():
        with cp.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream):
            launch(x.data_ptr(), y.data_ptr(), n)

    started = time.time()
    milliseconds = triton.testing.do_bench_cudagraph(call, return_mode="median")
    row("triton do_bench_cudagraph", n, 1e3 * milliseconds, time.time() - started, "nothing")


def nvbench(n):
    import cuda.bench as bench
    import cupy as cp

    @bench.register()
    def add1(state):
        with cp.cuda.Stream.from_external(state.get_stream()) as stream:
            x, y = cp.random.rand(n, dtype=cp.float32), cp.empty(n, dtype=cp.float32)
            stream.synchronize()

        def call(launcher):
            with cp.cuda.Stream.from_external(launcher.get_stream()):
                launch(x.data.ptr, y.data.ptr, n)

        state.exec(call, batched=True)

    with tempfile.NamedTemporaryFile("r", suffix=".csv") as table:
        started = time.time()
        bench.run_all_benchmarks([sys.argv[0], "--csv", table.name])
        wall = time.time() - started
        measured = list(csv.DictReader(table))[-1]
    row("NVBench, batch", n, 1e6 * float(measured["Batch GPU (sec)"]), wall, "nothing")
    row("NVBench, cold (mean)", n, 1e6 * float(measured["GPU Time (sec)"]), wall, "nothing")


if sys.argv[1] == "--nvbench":
    nvbench(int(sys.argv[2]))
else:
    for size in map(int, sys.argv[1:]):
        triton(size)
        done = subprocess.run([sys.executable, __file__, "--nvbench", str(size)], capture_output=True, text=True)
        rows = [line for line in done.stdout.splitlines() if line.count("\t") == 4]
        print("\n".join(rows), flush=True)
        if done.returncode != 0 or not rows:
            print(f"error: NVBench failed with {done.returncode}:\n{done.stdout}{done.stderr}", file=sys.stderr)
