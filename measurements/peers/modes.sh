#!/usr/bin/env bash
# Times y = x + 1 in every mode of this tool and in the peers that have such a mode, on the GPU of
# this machine, and prints one table.
#
#   modes.sh TOOL ARCHIVE [WHEELS [FLASHINFER]]
#
# TOOL is the `cargo-gpubench` executable and ARCHIVE an archive of this workspace's
# `kernels/problems`. nvcc, PyTorch, CuPy and Triton must be installed. WHEELS is a folder with the wheel
# of cuda-bench, if it is not installed, and FLASHINFER is FlashInfer's file
# `flashinfer/testing/utils.py`.
set -uo pipefail
if [ $# -lt 2 ]; then
    echo "usage: modes.sh TOOL ARCHIVE [WHEELS [FLASHINFER]]" >&2
    exit 2
fi
tool=$(realpath -- "$1") archive=$(realpath -- "$2") wheels=${3:+$(realpath -- "$3")} flashinfer=${4:+$(realpath -- "$4")}
cd -- "$(dirname -- "${BASH_SOURCE[0]}")" || exit 1
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
export PYTHONDONTWRITEBYTECODE=1
if [ -n "$wheels" ]; then
    python3 -m pip install -q --no-index --no-deps --no-compile --target "$made/site" "$wheels"/*.whl || exit 1
    export PYTHONPATH=$made/site
fi
sizes=(1024 300000 2097152 67108864)
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
status=0
attempt() {
    local what=$1
    shift
    if ! "$@" >>"$made/rows" 2>"$made/log"; then
        echo "error: $what failed:" >&2
        tail -n 5 "$made/log" >&2
        status=1
    fi
}
attempt nvcc nvcc -O2 -arch=native -o "$made/graph_calls" graph_calls.cu
attempt graph_calls "$made/graph_calls" "${sizes[@]}"
if [ -n "$flashinfer" ]; then attempt FlashInfer python3 flashinfer_peer.py "$flashinfer" "${sizes[@]}"; fi
attempt "Triton or NVBench" python3 hot_peers.py "${sizes[@]}"
axis=$(IFS=,; echo "${sizes[*]}")
"$tool" gpubench --archive-file "$archive" --device cuda --mode cold,hot,graph --axis "n=$axis" \
    --export-json "$made/records.jsonl" add1::add1 >"$made/table" 2>"$made/log" || {
    echo "error: cargo gpubench ended with $?:" >&2
    tail -n 5 "$made/table" "$made/log" >&2
    status=1
}
python3 modes_table.py "$made/rows" "$made/records.jsonl" || status=1
if [ -n "${OUT-}" ]; then gzip -c "$made/records.jsonl" >"$OUT/modes.jsonl.gz"; fi
exit "$status"
