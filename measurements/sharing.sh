#!/usr/bin/env bash
# Checks the grade on a shared GPU: with another process that computes, and under MPS.
#
#   sharing.sh TOOL SUITE
#
# TOOL and SUITE are cargo-gpubench and suite.tar.gz from the FOLDER of run.sh. PyTorch must be
# installed, and the GPU must be idle. The script starts MPS with temporary folders and stops it
# again.
set -uo pipefail
if [ $# -lt 2 ]; then
    echo "usage: sharing.sh TOOL SUITE" >&2
    exit 2
fi
tool=$(realpath -- "$1") suite=$(realpath -- "$2")
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
status=0

# Measures, and checks for the grade `unverified` with a word in its reason.
graded() {
    local what=$1 word=$2
    "$tool" gpubench --device cuda --archive-file "$suite" --export-json "$made/$what.jsonl" add1 >"$made/$what.log" 2>&1
    python3 - "$made/$what.jsonl" "$what" "$word" <<'PYTHON' || status=1
import json, sys

path, what, word = sys.argv[1:]
with open(path) as lines:
    results = [record for record in map(json.loads, lines) if record["reason"] == "benchmark-complete"]
for result in results:
    print(f"{what}: {result['case']}: {result['verdict']}, {result['grade']}: {result['grade_reason']}")
sys.exit(not results or any(r["verdict"] != "pass" or r["grade"] != "unverified" or word not in r["grade_reason"] for r in results))
PYTHON
}

python3 - "$made/ready" >"$made/load.log" 2>&1 <<'PYTHON' &
import pathlib, sys, time

import torch

a = torch.randn(4096, 4096, device="cuda")
(a @ a).sum().item()
pathlib.Path(sys.argv[1]).touch()
end = time.monotonic() + 60
while time.monotonic() < end:
    for _ in range(20):
        a @ a
    torch.cuda.synchronize()
PYTHON
load=$!
for _ in $(seq 300); do
    if [ -e "$made/ready" ] || ! kill -0 "$load" 2>/dev/null; then break; fi
    sleep 0.1
done
if [ -e "$made/ready" ]; then
    graded with-another-process "using the device"
else
    cat "$made/load.log"
    status=1
fi
kill "$load" 2>/dev/null
wait "$load" 2>/dev/null

export CUDA_MPS_PIPE_DIRECTORY=$made/mps CUDA_MPS_LOG_DIRECTORY=$made/mps-log
mkdir -p "$CUDA_MPS_PIPE_DIRECTORY" "$CUDA_MPS_LOG_DIRECTORY"
if nvidia-cuda-mps-control -d; then
    graded under-mps "MPS"
    echo quit | nvidia-cuda-mps-control >/dev/null
else
    echo "MPS cannot be started" >&2
    status=1
fi
exit "$status"
