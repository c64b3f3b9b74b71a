"""How well the referee's clock bounds the claims of each case.

usage: bound.py RECORDS.jsonl
"""
import json
import sys

with open(sys.argv[1]) as lines:
    for line in lines:
        case = json.loads(line)
        if case["reason"] != "benchmark-complete" or not (case["conservation"] or {}).get("bound_ns"):
            continue
        clocks, median = case["conservation"], case["stats"]["value"]
        error = clocks["bound_ns"] - clocks["kernel_part_ns"] - 0.001 * median - 0.01 * max(0, median - 3e5)
        windows = case["window_counts"]
        print(
            f"{case['case']}: the bound is known to {error:.0f} ns from {windows['timed']} windows and {windows['null']} null windows; "
            f"an excess of {clocks['excess_ns']:.0f} ns, bound {clocks['bound_ns']:.0f} ns"
        )
