"""Recomputes the times of fresh runs of the same cases and their confidence intervals from the
samples, with the current estimators of the tool.

usage: intervals.py RECORDS.jsonl RECORDS.jsonl...
"""
import itertools
import json
import random
import sys

from estimators import interquartile_mean, without_tenths

RESAMPLES = 2000


def workers_of(record):
    samples = iter(record["samples"])
    shares = [list(itertools.islice(samples, worker["samples"])) for worker in record["workers"]]
    return [share for share in shares if share]


def median(workers):
    return without_tenths([interquartile_mean(samples) for samples in workers])


def reach(workers, middle):
    """Returns the half-width of the 95 % percentile bootstrap interval around the median."""
    draws = random.Random(7)
    medians = sorted(median([draws.choices(samples, k=len(samples)) for samples in workers]) for _ in range(RESAMPLES))
    low, high = medians[RESAMPLES // 40], medians[-RESAMPLES // 40]
    return max(middle - low, high - middle)


def main():
    runs = {}
    for path in sys.argv[1:]:
        with open(path) as lines:
            for line in lines:
                record = json.loads(line)
                if record["reason"] == "benchmark-complete" and record["samples"]:
                    runs.setdefault(record["case"], []).append(workers_of(record))
    for case, of_case in runs.items():
        medians = [median(workers) for workers in of_case]
        pairs = list(itertools.combinations(medians, 2))
        close = sum(abs(a - b) <= max(64.01, 0.01 * min(a, b)) for a, b in pairs)
        reaches = [reach(workers, middle) for workers, middle in zip(of_case, medians)]
        shown = ", ".join(f"{middle / 1e3:.3f} ± {of_run / 1e3:.3f}" for middle, of_run in zip(medians, reaches))
        widest = max(of_run / middle for middle, of_run in zip(medians, reaches))
        print(f"{case}: {shown} us; intervals of the samples within {widest:.2%}, {close} of {len(pairs)} pairs close")


if __name__ == "__main__":
    main()
