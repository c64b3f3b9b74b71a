"""NVBench's cold measurement of add1 (Python package cuda-bench), each size in a separate process.

usage: nvbench_peer.py        all sizes
       nvbench_peer.py N      one size
"""

import csv
import subprocess
import sys
import tempfile
import time

from add1 import SIZES, row


def measure(n):
    import cuda.bench as bench
    import cupy as cp

    from add1 import launch

    @bench.register()
    def add1(state):
        with cp.cuda.Stream.from_external(state.get_stream()) as stream:
            x, y = cp.random.rand(n, dtype=cp.float32), cp.empty(n, dtype=cp.float32)
            stream.synchronize()
        state.add_global_memory_reads(4 * n)
        state.add_global_memory_writes(4 * n)

        def call(launcher):
            with cp.cuda.Stream.from_external(launcher.get_stream()):
                launch(x.data.ptr, y.data.ptr, n)

        state.exec(call)

    with tempfile.NamedTemporaryFile("r", suffix=".csv") as table:
        started = time.time()
        bench.run_all_benchmarks([sys.argv[0], "--csv", table.name])
        wall = time.time() - started
        measured = list(csv.DictReader(table))[-1]
    # NVBench reports the mean of the cold samples, not their median.
    row("NVBench, cold (mean)", n, 1e6 * float(measured["GPU Time (sec)"]), wall, "nothing")


if len(sys.argv) > 1:
    measure(int(sys.argv[1]))
else:
    for size in SIZES:
        # Only the row goes into the table. NVBench's other output is for people.
        done = subprocess.run([sys.executable, __file__, str(size)], capture_output=True, text=True)
        rows = [line for line in done.stdout.splitlines() if line.count("\t") == 4]
        print("\n".join(rows), flush=True)
        if done.returncode != 0 or not rows:
            sys.exit(f"error: NVBench failed with {done.returncode}:\n{done.stdout}{done.stderr}")
