"""Counts accused honest cases and cases measured twice, and lists the excesses closest to the bound.

usage: accused.py RECORDS.jsonl...

Exits with 1 if a case did not pass.
"""
import json
import sys


def cases(paths):
    for path in paths:
        with open(path) as lines:
            for line in lines:
                record = json.loads(line)
                if record["reason"] == "benchmark-complete":
                    yield record


def main(paths):
    shares, failed, grades, twice = [], [], {}, 0
    for case in cases(paths):
        grades[case["grade"]] = grades.get(case["grade"], 0) + 1
        twice += any(notice.startswith("measured twice") for notice in case["notices"])
        balance = case["conservation"]
        if balance and balance["excess_ns"] is not None:
            shares.append((balance["excess_ns"] / balance["bound_ns"], case["case"], balance))
        if case["verdict"] != "pass":
            failed.append(f"{case['case']}: {case['verdict']}, {case['cause']}: {case['message']}")
    shares.sort(reverse=True, key=lambda share: share[0])
    accused = sum("time-mismatch" in failure for failure in failed)
    print(f"{sum(grades.values())} cases, {len(failed)} failed, {accused} of them with time-mismatch; grades {grades}")
    print(f"{twice} cases measured twice, by their notices")
    print(*failed, sep="\n")
    for share, name, balance in shares[:5]:
        print(f"{name}: excess {balance['excess_ns'] / 1e3:.1f} us of {balance['bound_ns'] / 1e3:.1f} us ({share:.0%})")
    bounds = sorted(balance["bound_ns"] for _, _, balance in shares)
    if bounds:
        print(f"bounds: median {bounds[len(bounds) // 2] / 1e3:.1f} us, largest {bounds[-1] / 1e3:.1f} us")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
