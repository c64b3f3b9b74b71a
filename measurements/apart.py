"""Counts false differences between stored runs of the same code, and how often a slower kernel is found.

usage: apart.py FOLDER [SLOWER...]

FOLDER has runs of the same sources, as `--export-json` writes them (*.jsonl). `cargo gpubench
compare` compares each run with each later one. SLOWER are factors, such as 1.1 for 10 % slower: the
later run's samples are multiplied by the factor, and regressions are counted. A row is quiet if the
machine drifted by less than 2 %. A pair of runs is quiet if at least half of its rows are. GPUBENCH
is the path of a built cargo-gpubench.
"""
import collections
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

QUIET = math.log(1.02)
TOOL = [os.environ["GPUBENCH"], "gpubench"] if "GPUBENCH" in os.environ else ["cargo", "gpubench"]


def slowed(run, factor, folder):
    """Returns a copy of a run with all samples multiplied by the factor."""
    copy = folder / run.name
    with open(run) as lines, open(copy, "w") as out:
        for record in map(json.loads, lines):
            if record["reason"] == "benchmark-complete":
                record["samples"] = [sample * factor for sample in record["samples"]]
            out.write(json.dumps(record) + "\n")
    return copy


def rows_of_pairs(runs, factor):
    """Returns the compared rows of each pair of runs."""
    with tempfile.TemporaryDirectory() as folder:
        later = [slowed(run, factor, pathlib.Path(folder)) for run in runs]
        for position, run in enumerate(runs[:-1]):
            command = [*TOOL, "compare", run, *later[position + 1 :], "--message-format", "json"]
            printed = subprocess.run(command, capture_output=True, text=True)
            if printed.returncode not in (0, 3):
                sys.exit(printed.stderr)
            for record in map(json.loads, printed.stdout.splitlines()):
                yield [row for row in record["rows"] if row["change"]]


def typical(logarithms):
    return math.expm1(statistics.median(map(abs, logarithms)))


def is_quiet(row):
    drift = row["change"].get("drift")
    return drift is not None and abs(math.log(drift)) < QUIET


def shares(rows):
    verdicts = collections.Counter(row["verdict"] for row in rows)
    return ", ".join(f"{count} {verdict} ({count / len(rows):.2%})" for verdict, count in verdicts.most_common())


def told(what, pairs):
    rows = [row for pair in pairs for row in pair]
    print(f"{what}: {len(rows)} rows of {len(pairs)} pairs: {shares(rows) if rows else 'none'}")


def main(folder, *factors):
    runs = sorted(pathlib.Path(folder).glob("*.jsonl"))
    pairs = list(rows_of_pairs(runs, 1.0))
    rows = [row for pair in pairs for row in pair]
    both = [(math.log(row["change"]["ratio"]), math.log(row["change"].get("drift") or 1)) for row in rows]
    changes, drifts = zip(*both)
    print(f"{len(runs)} runs; the times of a row differ by {typical(changes):.1%} in the median")
    if any(drifts):
        correlation = statistics.correlation(changes, drifts)
        print(f"its twins by {typical(drifts):.1%}; the correlation of the logarithms of both is {correlation:.2f}")
    told("the same code", pairs)
    for factor in map(float, factors):
        pairs = list(rows_of_pairs(runs, factor))
        quiet = [pair for pair in pairs if sum(map(is_quiet, pair)) >= len(pair) / 2]
        told(f"{factor - 1:.0%} slower", pairs)
        told(f"{factor - 1:.0%} slower, quiet pairs", quiet)
        told(f"{factor - 1:.0%} slower, quiet rows", [[row for row in pair if is_quiet(row)] for pair in pairs])


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(*sys.argv[1:])
