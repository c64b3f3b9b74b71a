"""Prints one table of the times of add1 in the modes of this tool and in peers, by size.

usage: modes_table.py ROWS RECORDS

ROWS has the lines of the peers. RECORDS has the JSON lines of `cargo gpubench --export-json`.
"""

import json
import sys


def peers(path):
    with open(path) as lines:
        for line in lines:
            if line.count("\t") == 4:
                tool, n, time, wall, _ = line.rstrip("\n").split("\t")
                yield int(n), tool, float(time), float(wall)


def ours(path):
    with open(path) as lines:
        records = [json.loads(line) for line in lines]
    for record in records:
        if record["reason"] != "benchmark-complete":
            continue
        n, mode = record["params"]["n"], record["mode"]
        name = f"cargo gpubench {mode} ({record['verdict']}, {record['grade']}, {record['calls_per_sample']} calls)"
        value = (record.get("stats") or {}).get("value")
        yield n, name, float("nan") if value is None else value / 1e3, record["wall_ns"] / 1e9
        single = record.get("single_calls")
        if single:
            yield n, f"cargo gpubench {mode}, single calls", single["median_ns"] / 1e3, 0.0


rows = [*ours(sys.argv[2]), *peers(sys.argv[1])]
print("| n | tool | us a call | wall in s |")
print("|--:|---|--:|--:|")
for n, tool, time, wall in sorted(rows, key=lambda row: row[0]):
    print(f"| {n} | {tool} | {time:.3f} | {wall:.2f} |")
