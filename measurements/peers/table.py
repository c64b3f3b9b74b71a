"""Prints one table of the times of add1 in the peers and in this tool.

usage: table.py ROWS RECORDS

ROWS has the lines of the peers. RECORDS has the JSON lines of `cargo gpubench --export-json` for the
suite's `add1`.
"""

import json
import sys


def peers(path):
    with open(path) as lines:
        for line in lines:
            tool, n, median, wall, checked = line.rstrip("\n").split("\t")
            yield tool, int(n), float(median), float(wall), checked


def ours(path):
    with open(path) as lines:
        records = [json.loads(line) for line in lines]
    for record in records:
        if record["reason"] != "benchmark-complete" or not record["benchmark"].endswith("add1"):
            continue
        what = f"cargo gpubench ({record['verdict']}, {record['grade']})"
        stats = record.get("stats") or {}
        median = stats.get("value")
        median = float("nan") if median is None else median / 1e3
        yield what, record["params"]["n"], median, record["wall_ns"] / 1e9, f"{record['windows']} calls"


def main():
    rows = [*peers(sys.argv[1]), *ours(sys.argv[2])]
    nvbench = {n: median for tool, n, median, _, _ in rows if tool.startswith("NVBench")}
    print("| n | tool | median in us | relative to NVBench | wall in s | checked |")
    print("|--:|---|--:|--:|--:|---|")
    for tool, n, median, wall, checked in sorted(rows, key=lambda row: (row[1], row[0])):
        difference = f"{100 * (median / nvbench[n] - 1):+.1f} %, {median - nvbench[n]:+.2f} us" if n in nvbench else ""
        print(f"| {n} | {tool} | {median:.2f} | {difference} | {wall:.2f} | {checked} |")


main()
