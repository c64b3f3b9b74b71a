"""Prints how much longer cases take in several modes than in one.

usage: cost_of_modes.py ONE SEVERAL

Both are exports (`--export-json`) of the same cases: ONE of a run in one mode, SEVERAL of a run in
several.
"""

import json
import statistics
import sys


def wall_seconds(path):
    """Returns the wall time of each case in each mode."""
    cases = {}
    with open(path) as lines:
        for record in map(json.loads, lines):
            if record["reason"] == "benchmark-complete":
                modes = cases.setdefault(record["case"], {})
                modes[record["mode"]] = record["wall_ns"] / 1e9
    return cases


one, several = map(wall_seconds, sys.argv[1:3])
ratios = []
for case, modes in several.items():
    alone, together = sum(one[case].values()), sum(modes.values())
    ratios.append(together / alone)
    parts = ", ".join(f"{mode} {seconds:.2f} s" for mode, seconds in modes.items())
    print(f"{case}: {alone:.2f} s; {parts}; ratio {ratios[-1]:.1f}")
print(f"{len(ratios)} cases: median ratio {statistics.median(ratios):.1f}, largest {max(ratios):.1f}")
