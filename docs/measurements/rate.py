"""Windows a second in the cases of a run, with everything that a case takes and without its start.

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
        print(f"{case['case']}: {checked} checked calls and {counts['control']} control windows in {seconds:.2f} s, the start of its worker included:")
        print(f"  {checked / seconds:.0f} checked calls a second, {(checked + counts['control']) / seconds:.0f} windows a second")
