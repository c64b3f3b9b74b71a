"""Prints the differences between the times of fresh runs of the same cases.

usage: repeat.py RECORDS.jsonl RECORDS.jsonl...

The last columns are the largest difference between two runs, and the number of pairs that agree
within 1 % or 64 ns, whichever is more.
"""
import itertools
import json
import sys

runs = []
for path in sys.argv[1:]:
    with open(path) as lines:
        records = [json.loads(line) for line in lines]
    runs.append({record["case"]: record for record in records if record["reason"] == "benchmark-complete" and record["stats"]})

for case in runs[0]:
    medians = [run[case]["stats"]["value"] for run in runs if case in run]
    pairs = list(itertools.combinations(medians, 2))
    apart = max(abs(a - b) for a, b in pairs)
    # Event times are floats of milliseconds: two steps of 32 ns may round to slightly more.
    close = sum(abs(a - b) <= max(64.01, 0.01 * min(a, b)) for a, b in pairs)
    seconds = [run[case]["wall_ns"] / 1e9 for run in runs if case in run]
    shown = " ".join(f"{median / 1e3:.3f}" for median in medians)
    print(f"{case}: {shown} us; at most {apart:.0f} ns ({apart / min(medians):.2%}) apart, {close} of {len(pairs)} pairs close; {max(seconds):.2f} s a case at most")
