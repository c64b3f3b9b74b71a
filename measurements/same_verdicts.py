#!/usr/bin/env python3
"""Lists the cases whose verdicts or causes differ between two exports.

usage: same_verdicts.py BEFORE.jsonl AFTER.jsonl

Exits with 1 if a case differs or is only in one export.
"""
import json
import sys


def outcomes(path):
    """Returns verdict and cause by case."""
    with open(path) as lines:
        records = [json.loads(line) for line in lines]
    results = [record for record in records if record["reason"] == "benchmark-complete"]
    return {result["case"]: (result["verdict"], result["cause"]) for result in results}


def main(before, after):
    before, after = outcomes(before), outcomes(after)
    differ = {case for case in before.keys() | after.keys() if before.get(case) != after.get(case)}
    for case in sorted(differ):
        print(f"{case}: {before.get(case)}, then {after.get(case)}")
    print(f"{len(before)} and {len(after)} cases, {len(differ)} differ")
    return bool(differ) or not before


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
