"""Prints the windows per second in the cases of a run, without the start of each case.

usage: rate.py RECORDS.jsonl
"""
import json
import sys

with open(sys.argv[1]) as lines:
    for line in lines:
        case = json.loads(line)
        if case["reason"] != "benchmark-complete":
            continue
        counts = case["window_counts"]
        checked = counts["warm_up"] + counts["timed"] + counts["early_check"]
        seconds = case["wall_ns"] / 1e9
        print(f"{case['case']}: {checked} checked calls and {counts['control']} control windows in {seconds:.2f} s, including the start of the worker:")
        print(f"  {checked / seconds:.0f} checked calls per second, {(checked + counts['control']) / seconds:.0f} windows per second")
