"""Prints the differences between the medians of a case's workers.

usage: workers.py RECORDS.jsonl
"""
import json
import statistics
import sys

with open(sys.argv[1]) as lines:
    for line in lines:
        case = json.loads(line)
        if case["reason"] != "benchmark-complete" or case["stats"] is None:
            continue
        medians = [worker["value"] for worker in case["workers"] if worker["value"] is not None]
        spread = statistics.stdev(medians)
        error = spread / len(medians) ** 0.5
        print(
            f"{case['case']}: {len(medians)} workers with medians of {statistics.fmean(medians):.0f} ns on average, give or take {error:.0f} ns, "
            f"standard deviation {spread:.0f} ns; {case['wall_ns'] / 1e9:.2f} s"
        )
