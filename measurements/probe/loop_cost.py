"""Prints how much slower a PyTorch loop of small kernels is while `cargo gpubench probe` observes it.

usage: loop_cost.py TOOL [ROUNDS]

One process trains a small network all the time, and the probe observes it now and then. A row has
the median time of a step: alone before the probe, observed, alone again, and the ratio of the
second to the mean of the others. Last come the observed calls of each step. Takes 10 s and 6 s for
each of the ROUNDS (5 if not given). Must run as root.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

SECOND = 1_000_000_000
STEPS = 20
OBSERVED = 2
# To attach and to detach take less.
MARGIN = SECOND // 2


def train():
    """Trains until it is ended. Prints when each batch of steps ended, and the time of a step."""
    import torch

    torch.manual_seed(1)
    network = torch.nn.Sequential(
        torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10)
    ).cuda()
    optimizer = torch.optim.SGD(network.parameters(), lr=0.01, momentum=0.9)
    inputs = torch.randn(64, 64, device="cuda")
    labels = torch.randint(0, 10, (64,), device="cuda")
    while True:
        began = time.monotonic_ns()
        for _ in range(STEPS):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(network(inputs), labels).backward()
            optimizer.step()
        torch.cuda.synchronize()
        ended = time.monotonic_ns()
        print(ended, (ended - began) / STEPS, flush=True)


def steps_between(lines, since, until):
    return [step for ended, step in lines if since < ended < until]


def read(printed):
    printed.seek(0)
    # The last line may be cut.
    pairs = [line.split() for line in printed.read().splitlines()[:-1]]
    return [(int(ended), float(step)) for ended, step in pairs]


def main(tool, rounds):
    folder = tempfile.TemporaryDirectory()
    record = os.path.join(folder.name, "observed.jsonl")
    with folder, tempfile.TemporaryFile("w+") as printed:
        with subprocess.Popen([sys.executable, __file__, "--train"], stdout=printed) as process:
            observe = [tool, "probe", "--quiet", "--pid", str(process.pid), "--duration", f"{OBSERVED}s"]
            observe += ["--export-json", record]
            try:
                while len(read(printed)) < 10 and process.poll() is None:
                    time.sleep(0.5)
                time.sleep(2)
                spans = []
                for _ in range(rounds):
                    time.sleep(2)
                    began = time.monotonic_ns()
                    subprocess.run(observe, check=True, capture_output=True)
                    spans.append((began, time.monotonic_ns()))
                time.sleep(2)
            finally:
                process.kill()
        lines = read(printed)
        with open(record) as written:
            seen = json.loads(written.readlines()[-1])["calls"]

    ratios = []
    for began, ended in spans:
        before = statistics.median(steps_between(lines, began - 2 * SECOND + MARGIN, began))
        observed = steps_between(lines, began + MARGIN, ended - MARGIN)
        after = statistics.median(steps_between(lines, ended, ended + 2 * SECOND - MARGIN))
        ratios.append(statistics.median(observed) / statistics.mean([before, after]))
        print(
            f"alone {before / 1e3:.1f} us, observed {statistics.median(observed) / 1e3:.1f} us, "
            f"alone again {after / 1e3:.1f} us: {ratios[-1]:.4f}"
        )
    print(f"median ratio: {statistics.median(ratios):.4f}")
    began, ended = spans[-1]
    steps = STEPS * len(steps_between(lines, began, ended))
    traps = sum(call["calls"] for call in seen["calls"])
    print(f"observed calls in each of about {steps} steps: {traps / steps:.1f}")
    for call in seen["calls"][:8]:
        print(f"{call['calls'] / steps:8.2f} {call['call']}")


if sys.argv[1] == "--train":
    train()
else:
    main(os.path.realpath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5)
