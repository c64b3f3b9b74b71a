"""Prints how much longer the host needs for a launch while `cargo gpubench probe` observes it.

usage: launch_cost.py TOOL KNOWN_CALLS

One process launches all the time, and the probe observes it now and then. A row has the median time
of a launch in nanoseconds: alone before the probe, observed, and the difference.
"""

import statistics
import subprocess
import sys
import tempfile
import time

TIMES = 7
SECOND = 1_000_000_000
# To attach and to detach take less.
MARGIN = SECOND // 4

tool, program = sys.argv[1:3]
with tempfile.TemporaryFile("w+") as printed:
    command = [program, "launches", str(3 * TIMES + 1)]
    with subprocess.Popen(command, stdout=printed) as process:
        observe = [tool, "probe", "--quiet", "--pid", str(process.pid), "--duration", "1s"]
        time.sleep(1)
        spans = []
        for _ in range(TIMES):
            time.sleep(1)
            began = time.monotonic_ns()
            subprocess.run(observe, check=True, capture_output=True)
            spans.append((began, time.monotonic_ns()))
        process.terminate()
    printed.seek(0)
    # The last line may be cut.
    batches = [line.split() for line in printed.read().splitlines()[:-1]]
batches = [(int(ended), float(launch)) for ended, launch in batches]


def median(since, until):
    return statistics.median(launch for ended, launch in batches if since < ended < until)


costs = []
for began, ended in spans:
    alone, observed = median(began - SECOND + MARGIN, began), median(began + MARGIN, ended - MARGIN)
    costs.append(observed - alone)
    print(f"alone {alone:.0f}, observed {observed:.0f}: {costs[-1]:+.0f} ns")
print(f"median difference: {statistics.median(costs):.0f} ns")
