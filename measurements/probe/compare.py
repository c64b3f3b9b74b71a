"""Compares what a program says it did with what `cargo gpubench probe` saw of it.

usage: compare.py SAID RECORDS

SAID has a row for each number that the program knows: a name, a tab, the number. RECORDS has the
JSON lines of the probe.
"""

import json
import sys

with open(sys.argv[2]) as lines:
    records = [json.loads(line) for line in lines]
seen = next(record for record in records if record["reason"] == "probe-finished")["calls"]
work = seen["work"]


def launches_of(part):
    return sum(kernel["launches"] for kernel in seen["kernels"] if part in kernel["name"])


def copies(direction, field):
    return sum(row[field] for row in seen["copies"] if row["direction"] == direction)


def memory(kind, field):
    return sum(row[field] for row in seen["memory"] if kind in (row["kind"], None))


numbers = {
    "launches": work["plain_launches"] + work["extended_launches"] + work["cooperative_launches"],
    "launches of add_one": launches_of("add_one"),
    "launches of scale": launches_of("scale"),
    "launches of together": launches_of("together"),
    "launches into a capture": work["captured_launches"],
    "cooperative launches": work["cooperative_launches"],
    "graph launches": work["graph_launches"],
    "bytes left": memory(None, "unfreed_bytes"),
    "managed bytes": memory("managed", "allocated_bytes"),
    "stream-ordered bytes": memory("stream-ordered", "allocated_bytes"),
    "pinned bytes": memory("pinned", "allocated_bytes"),
    "failed allocations": sum(row["count"] for row in seen["errors"] if row["call"].startswith("cuMemAlloc")),
}
for direction in ("host-to-device", "device-to-host", "device-to-device"):
    for field in ("copies", "bytes"):
        numbers[f"{direction} {field}"] = copies(direction, field)

different = 0
print("| what | the program | the probe |")
print("|---|--:|--:|")
with open(sys.argv[1]) as rows:
    for row in rows:
        name, said = row.rstrip("\n").split("\t")
        different += int(said) != numbers[name]
        print(f"| {name} | {said} | {numbers[name]} |")
print(f"\n{different} different, {seen['lost_events']} events lost")
sys.exit(different > 0)
