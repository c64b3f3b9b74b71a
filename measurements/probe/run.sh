#!/usr/bin/env bash
# Compares what `cargo gpubench probe` sees of CUDA programs with what they do, and prints how much
# longer a launch takes under it.
#
#   run.sh TOOL
#
# TOOL is the `cargo-gpubench` executable. Needs nvcc, and PyTorch for one of the programs. Must run
# as root.
set -uo pipefail
if [ $# -lt 1 ]; then
    echo "usage: run.sh TOOL" >&2
    exit 2
fi
tool=$(realpath -- "$1")
cd -- "$(dirname -- "${BASH_SOURCE[0]}")" || exit 1
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
uname -r
status=0
nvcc -O2 -std=c++17 -arch=native -o "$made/known_calls" known_calls.cu || exit 1

# Runs a program under the probe, whose records go to a file.
probed() {
    local name=$1
    shift
    "$tool" probe --export-json "$made/$name.jsonl" -- "$@" >"$made/$name.said" 2>"$made/$name.log" || {
        echo "error: the probe of $name ended with $?:" >&2
        tail -n 20 "$made/$name.log" >&2
        status=1
    }
}

echo "== a program with known calls"
probed known "$made/known_calls"
python3 compare.py <(grep -P '\t\d+$' "$made/known.said") "$made/known.jsonl" || status=1

echo "== PyTorch, kernels by CUPTI"
probed torch python3 training_step.py 50
python3 compare.py <(grep -P '\t\d+$' "$made/torch.said") "$made/torch.jsonl" || status=1

echo "== time of a launch"
python3 launch_cost.py "$tool" "$made/known_calls" || status=1
echo "== submissions of each call of the driver"
nvcc -O2 -std=c++17 -arch=native -o "$made/doorbell" doorbell.cu -lcuda && "$made/doorbell" || status=1
if [ -n "${OUT-}" ]; then cp "$made"/*.jsonl "$made"/*.log "$OUT"; fi
exit "$status"
