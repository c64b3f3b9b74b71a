#!/usr/bin/env python3
"""Compares what records say of kernels with what NVIDIA's Nsight Compute says of them.

    occupancy.py TOOL [OPTION…]

TOOL is the `cargo-gpubench` executable. OPTIONS, each with a value, select an archive and its cases,
for example `--archive-file suite.tar.gz reduction`. Of each benchmark, the first selected case makes
one call under `ncu`. Prints a row for each kernel, and exits with 1 if anything differs.
"""

import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

REGISTERS = "launch__registers_per_thread"
OCCUPANCY = "sm__maximum_warps_per_active_cycle_pct"
WAVES = "launch__waves_per_multiprocessor"
SHARED = ("launch__shared_mem_per_block_static", "launch__shared_mem_per_block_dynamic")
# The limit of Nsight Compute, and the word for it in a record.
LIMITS = {
    "launch__occupancy_limit_registers": "registers",
    "launch__occupancy_limit_shared_mem": "shared-memory",
    "launch__occupancy_limit_warps": "threads",
    "launch__occupancy_limit_blocks": "blocks",
}
METRICS = [REGISTERS, OCCUPANCY, WAVES, *SHARED, *LIMITS]
BYTES = {"byte/block": 1, "Kbyte/block": 1000}

# Nsight Compute shows no fewer, since a thread gets no fewer.
FEWEST_REGISTERS = 16


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    tool = [sys.argv[1], "gpubench", "--device", "cuda", *sys.argv[2:]]
    listed = subprocess.run([*tool, "--list"], check=True, capture_output=True, text=True).stdout
    first_of = {}
    for case in listed.split():
        first_of.setdefault(case.rsplit("::", 1)[0], case)
    differences = 0
    row = "{:28} {:>9} {:>6} {:>9} {:>7}  {:24} {}"
    print(row.format("kernel", "registers", "blocks", "occupancy", "waves", "limited by", "differs in"))
    for case in first_of.values():
        for kernel, of_record, of_profiler in kernels(tool[:4] + options(sys.argv[2:]), case):
            wrong = [key for key in of_profiler if not same(of_record[key], of_profiler[key])]
            differences += len(wrong)
            shown = [of_record[key] for key in ("registers", "blocks", "occupancy", "waves")]
            told = ", ".join(f"{key}: {of_profiler[key]}" for key in wrong)
            print(row.format(kernel, *shown, "+".join(of_record["limited by"]), told or "-"))
    print(f"{differences} differences")
    sys.exit(differences > 0)


def options(arguments):
    """The options among the arguments, without filters of cases."""
    kept, values = [], iter(arguments)
    for argument in values:
        if argument.startswith("--"):
            kept.append(argument)
            if "=" not in argument:
                kept.append(next(values))
    return kept


def kernels(tool, case):
    """Yields each kernel of a case: its name, what the record and what the profiler say of it."""
    with tempfile.TemporaryDirectory() as folder:
        records = Path(folder) / "records.jsonl"
        # A row for each metric: the rows of the raw page are longer than a shown line.
        profiler = ["--metrics", ",".join(METRICS), "--csv", "--page", "details", "--print-details", "all"]
        run = subprocess.run(
            [*tool, "--exact", case, "--profile-with", "ncu", "--export-json", records, "--", *profiler],
            capture_output=True,
            text=True,
        )
        if run.returncode != 0:
            sys.exit(f"{case} ended with {run.returncode}:\n{run.stdout}{run.stderr}")
        uses = [
            use
            for record in map(json.loads, records.read_text().splitlines())
            for use in record.get("kernels") or []
        ]
    said = run.stdout + run.stderr
    lines = [line.split(" | ", 1)[1] for line in said.splitlines() if ' | "' in line]
    launches = {}
    for row in csv.DictReader(lines):
        launches.setdefault(row["ID"], {})[row["Metric Name"]] = (row["Metric Value"], row["Metric Unit"])
    launches = list(launches.values())
    recorded = sum(use["launches"] for use in uses)
    if recorded != len(launches):
        sys.exit(f"{case} has {recorded} launches in its record, and {len(launches)} here:\n{said}")
    position = 0
    for use in uses:
        seen = of_profiler(launches[position])
        # Nsight Compute does not count that a cluster needs its blocks in one GPC.
        if use["cluster"]:
            seen.pop("waves")
        yield use["kernel"], of_record(use), seen
        position += use["launches"]


def of_record(use):
    resources = use["resources"]
    return {
        "registers": max(resources["registers"], FEWEST_REGISTERS),
        "blocks": resources["blocks_per_multiprocessor"],
        "occupancy": round(resources["occupancy"], 4),
        "waves": round(resources["waves"], 2),
        "limited by": sorted(resources["limited_by"]),
        "shared": resources["static_shared_bytes"] + use["dynamic_shared_bytes"],
    }


def of_profiler(launch):
    limits = {word: int(number(launch[metric])) for metric, word in LIMITS.items()}
    blocks = min(limits.values())
    return {
        "registers": int(number(launch[REGISTERS])),
        "blocks": blocks,
        "occupancy": round(number(launch[OCCUPANCY]) / 100, 4),
        "waves": round(number(launch[WAVES]), 2),
        "limited by": sorted(word for word, limit in limits.items() if limit == blocks),
        "shared": round(sum(number(launch[metric]) * BYTES[launch[metric][1]] for metric in SHARED)),
    }


def number(value):
    text, _unit = value
    return float(text.replace(",", ""))


def same(one, other):
    if isinstance(one, float):
        return abs(one - other) <= 0.01 * max(one, other) + 0.005
    return one == other


if __name__ == "__main__":
    main()
