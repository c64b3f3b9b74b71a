"""Prints the precision of the referee's clock for each case: the spread of S2 - S1 minus the claim,
from the 5th to the 95th percentile.

usage: residuals.py RECORDS.jsonl...
"""
import json
import statistics
import sys


def spread(residuals):
    ordered = sorted(residuals)
    return ordered[int(0.95 * (len(ordered) - 1))] - ordered[int(0.05 * (len(ordered) - 1))]


for path in sys.argv[1:]:
    with open(path) as lines:
        records = [json.loads(line) for line in lines]
    results = [record for record in records if record["reason"] == "benchmark-complete"]
    clocks = [result["conservation"] for result in results if (result["conservation"] or {}).get("residuals_ns")]
    windows = [spread(clock["residuals_ns"]) for clock in clocks]
    control_windows = [spread(clock["control_residuals_ns"]) for clock in clocks if clock["control_residuals_ns"]]
    excesses = [clock["excess_ns"] for clock in clocks]
    bounds = [clock["bound_ns"] for clock in clocks if clock["claimed_ns"] < 3e5]
    sealed = sum(result["grade"] == "sealed" for result in results)
    print(f"{path}: {len(results)} cases, {sealed} sealed; {len(clocks)} with a clock")
    for what, values in (("spread of a case", windows), ("of its control windows", control_windows), ("excess", excesses), ("bound of calls below 300 us", bounds)):
        if values:
            print(f"  {what}: median {statistics.median(values):.0f} ns, {min(values):.0f} to {max(values):.0f} ns")
