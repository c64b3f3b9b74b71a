#!/usr/bin/env python3
"""Compares the times of hosted twins with the sealed benchmarks of the same names.

usage: twins.py EXPORT.jsonl...

EXPORTs are written by `--export-json`, for the suite and for `measurements/twins`. Prints the
difference of the hosted and the sealed time of each pair. Also prints how many pairs with a sealed
time below 50 us agree within 0.5 us or 3 %, whichever is more. Exits with 1 if one does not agree or
has no twin.
"""
import json
import sys

SHORT_NS = 50_000
NEAR_NS, NEAR = 500, 0.03


def results(paths):
    """Returns cases by execution (sealed or hosted) and by name."""
    found = {"sealed": {}, "hosted": {}}
    for path in paths:
        with open(path) as lines:
            records = [json.loads(line) for line in lines if line.strip()]
        for record in records:
            if record["reason"] == "benchmark-complete" and record.get("execution") in found:
                found[record["execution"]][record["case"]] = record
    return found["sealed"], found["hosted"]


def time_of(record):
    """Returns the reported time of a passed case in nanoseconds."""
    return record["stats"]["value"] if record["verdict"] == "pass" and record["stats"] else None


def main(paths):
    sealed, hosted = results(paths)
    short = near = 0
    for case, record in sorted(sealed.items()):
        expected, twin = time_of(record), hosted.get(case)
        is_short = expected is not None and expected < SHORT_NS
        short += is_short
        if twin is None:
            if is_short:
                print(f"{case}: sealed {expected / 1e3:.3f} us, no twin")
            continue
        got = time_of(twin)
        if expected is None or got is None:
            verdicts = [f"{it['execution']} {it['verdict']} ({it['cause']})" for it in (record, twin) if time_of(it) is None]
            print(f"{case}: {', '.join(verdicts)}")
            continue
        difference = got - expected
        # Event times are floats of milliseconds: they may be slightly off.
        agrees = abs(difference) <= max(NEAR_NS, NEAR * expected) + 0.01
        near += is_short and agrees
        print(
            f"{case}: sealed {expected / 1e3:.3f} us {record['grade']}, hosted {got / 1e3:.3f} us {twin['grade']}: "
            f"{difference / 1e3:+.3f} us, {difference / expected:+.2%}{'' if agrees else ', APART'}"
        )
    for case in sorted(set(hosted) - set(sealed)):
        print(f"{case}: no sealed benchmark")
    print(f"{near} of {short} below {SHORT_NS // 1000} us are within {NEAR_NS / 1e3} us or {NEAR:.0%}")
    sys.exit(near < short)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__.strip())
    main(sys.argv[1:])
