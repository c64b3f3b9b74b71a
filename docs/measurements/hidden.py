"""By how much the reported median of each honest case would be longer, were it made of what passed for the referee.

usage: hidden.py RECORDS.jsonl ...

Computed from `samples`, `workers`, `residuals_ns` and `null_residuals_ns` of the cases that passed, as docs/statistics.md has it. Prints the largest, beside what can be explained.
"""
import json
import statistics
import sys

from intervals import median, workers_of


def hidden(case):
    """Excess and bound of a case, or nothing where the clock bounds nothing."""
    clocks = case.get("conservation") or {}
    if case["verdict"] != "pass" or not clocks.get("residuals_ns"):
        return None
    samples, own = case["samples"], statistics.median(clocks["null_residuals_ns"])
    truth = [sample + min(beyond - own, 3e5) for sample, beyond in zip(samples, clocks["residuals_ns"])]
    claims = workers_of(case)
    excess = median(workers_of({**case, "samples": truth})) - median(claims)
    claimed, numbers = statistics.median(samples), [len(share) for share in claims]
    allowed = clocks["kernel_part_ns"] + 1e-3 * claimed + 1e-2 * max(0.0, claimed - 3e5)
    unevenness = (sum(numbers) * sum(1 / number for number in numbers)) ** 0.5 / len(numbers)
    return excess, allowed + 1.25 * unevenness * (clocks["bound_ns"] - allowed)


def main(paths):
    found = []
    for path in paths:
        with open(path) as lines:
            for record in map(json.loads, lines):
                figures = hidden(record) if record["reason"] == "benchmark-complete" else None
                if figures:
                    found.append((*figures, record["case"]))
    found.sort(key=lambda case: case[0] / case[1], reverse=True)
    print(f"{len(found)} cases")
    for excess, bound, case in found[:5]:
        print(f"{case}: {excess / 1e3:.1f} us of {bound / 1e3:.1f} us ({excess / bound:.0%})")


if __name__ == "__main__":
    main(sys.argv[1:])
