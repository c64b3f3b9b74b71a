"""How far the medians of fresh runs of a case spread, by how they are computed: runs are drawn from many fresh workers of the same kernel.

usage: estimators.py RECORDS.jsonl PARAM=VALUE...

RECORDS.jsonl has cases of one worker each (`--workers 1`), of which those with the given parameters are taken.
"""
import functools
import itertools
import json
import random
import statistics
import sys

RUNS = 400


@functools.cache
def beta_weights(n):
    """What each of n ascending samples weighs by the estimator of Harrell and Davis between the quartiles."""
    steps = 200
    areas = []
    for rank in range(n):
        low, high = max(rank / n, 0.25), min((rank + 1) / n, 0.75)
        points = (low + (high - low) * (step + 0.5) / steps for step in range(steps))
        areas.append(max(0, high - low) * sum((4 * x * (1 - x)) ** ((n - 1) / 2) for x in points) if high > low else 0)
    return [area / sum(areas) for area in areas]


def harrell_davis(samples):
    return sum(weight * sample for weight, sample in zip(beta_weights(len(samples)), sorted(samples)))


def without_tenths(medians):
    left_out = max(1, len(medians) // 10) if len(medians) >= 5 else 0
    return statistics.fmean(sorted(medians)[left_out : len(medians) - left_out])


ESTIMATORS = {
    "middle of all samples": lambda workers: statistics.median(itertools.chain(*workers)),
    "mean of the workers' middle samples": lambda workers: statistics.fmean(map(statistics.median, workers)),
    "`median_ns`": lambda workers: without_tenths([harrell_davis(samples) for samples in workers]),
}


def main():
    wanted = dict(argument.split("=") for argument in sys.argv[2:])
    with open(sys.argv[1]) as lines:
        records = [json.loads(line) for line in lines]
    fresh = [
        record["samples_ns"]
        for record in records
        if record["reason"] == "benchmark-complete"
        and record["samples_ns"]
        and all(str(record["params"].get(name)) == value for name, value in wanted.items())
    ]
    print(f"{len(fresh)} fresh workers; standard deviation in ns, and pairs of runs within 1 % or 64 ns")
    for workers, samples in [(5, 20), (8, 20), (10, 10), (10, 20), (10, 30), (12, 20)]:
        for name, estimator in ESTIMATORS.items():
            draws = random.Random(7)
            runs = []
            for _ in range(RUNS):
                drawn = draws.sample(fresh, workers)
                starts = [draws.randrange(max(1, len(own) - samples)) for own in drawn]
                runs.append(estimator([own[start : start + samples] for own, start in zip(drawn, starts)]))
            pairs = list(itertools.combinations(runs, 2))
            close = sum(abs(a - b) <= max(64.01, 0.01 * min(a, b)) for a, b in pairs)
            print(f"{workers} workers of {samples} samples, {name}: {statistics.stdev(runs):.0f} ns, {close / len(pairs):.0%}")


if __name__ == "__main__":
    main()
