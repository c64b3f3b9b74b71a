"""Measures the spread of the times of fresh runs of a case, for several estimators. Each run is
drawn from many fresh workers of the same kernel.

usage: estimators.py RECORDS.jsonl PARAM=VALUE...

RECORDS.jsonl has cases of one worker each (`--workers 1`). PARAM=VALUE selects some of them.
"""
import itertools
import json
import random
import statistics
import sys

RUNS = 400


def interquartile_mean(samples):
    """Returns the interquartile mean. A sample on a quartile counts with the part inside."""
    quarter = len(samples) / 4
    inside = [(min(rank + 1, 3 * quarter) - max(rank, quarter), sample) for rank, sample in enumerate(sorted(samples))]
    return sum(part * sample for part, sample in inside if part > 0) / (2 * quarter)


def without_tenths(medians):
    left_out = max(1, len(medians) // 10) if len(medians) >= 5 else 0
    return statistics.fmean(sorted(medians)[left_out : len(medians) - left_out])


ESTIMATORS = {
    "middle of all samples": lambda workers: statistics.median(itertools.chain(*workers)),
    "mean of the workers' middle samples": lambda workers: statistics.fmean(map(statistics.median, workers)),
    "`value`": lambda workers: without_tenths([interquartile_mean(samples) for samples in workers]),
}


def main():
    wanted = dict(argument.split("=") for argument in sys.argv[2:])
    with open(sys.argv[1]) as lines:
        records = [json.loads(line) for line in lines]
    fresh = [
        record["samples"]
        for record in records
        if record["reason"] == "benchmark-complete"
        and record["samples"]
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
