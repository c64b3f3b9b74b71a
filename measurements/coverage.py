"""Counts how many confidence intervals contain the value that other runs of the same code have.

usage: coverage.py RECORDS.jsonl RECORDS.jsonl...

Each interval is compared with the median of the values of the other runs, which stands for the true
value. Both vary, so somewhat fewer intervals contain it than would contain the true value.
"""
import collections
import json
import statistics
import sys

runs = []
for path in sys.argv[1:]:
    with open(path) as lines:
        records = [json.loads(line) for line in lines]
    complete = [record for record in records if record["reason"] == "benchmark-complete" and record["stats"]]
    known = [record for record in complete if record["stats"]["ci95"]]
    runs.append({(record["package"], record["case"], record["mode"]): record for record in known})
if len(runs) < 2:
    sys.exit("at least two runs are needed")

counts = collections.defaultdict(lambda: [0, 0])
for case in set.intersection(*(set(run) for run in runs)):
    for run in runs:
        low, high = run[case]["stats"]["ci95"]
        others = statistics.median(other[case]["stats"]["value"] for other in runs if other is not run)
        for group in [len(run[case]["workers"]), "all"]:
            counts[group][0] += low <= others <= high
            counts[group][1] += 1
for group, (covered, number) in sorted(counts.items(), key=str):
    print(f"{group} workers: {covered} of {number} intervals contain the median of the others, {covered / number:.1%}")
