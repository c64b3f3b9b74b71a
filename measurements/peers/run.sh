#!/usr/bin/env bash
# Runs the peers and this tool one after another on the GPU of this machine, and prints one table of
# their times.
#
#   run.sh TOOL ARCHIVE [WHEELS]
#
# TOOL is the `cargo-gpubench` executable and ARCHIVE an archive of this workspace's
# `kernels/problems`. PyTorch, CuPy and Triton must be installed; WHEELS is a folder with the wheels of
# pygpubench and cuda-bench, if they are not installed:
#
#   pip download --no-deps --only-binary=:all: --python-version 3.12 --implementation cp \
#       --platform manylinux_2_27_x86_64 --platform manylinux_2_35_x86_64 -d WHEELS pygpubench cuda-bench
set -uo pipefail
if [ $# -lt 2 ]; then
    echo "usage: run.sh TOOL ARCHIVE [WHEELS]" >&2
    exit 2
fi
tool=$(realpath -- "$1") archive=$(realpath -- "$2") wheels=${3:+$(realpath -- "$3")}
cd -- "$(dirname -- "${BASH_SOURCE[0]}")" || exit 1
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
export PYTHONDONTWRITEBYTECODE=1
if [ -n "$wheels" ]; then
    python3 -m pip install -q --no-index --no-deps --no-compile --target "$made/site" "$wheels"/*.whl || exit 1
    export PYTHONPATH=$made/site
fi

status=0
for peer in nvbench pygpubench triton; do
    if ! python3 "${peer}_peer.py" >>"$made/rows" 2>"$made/$peer.log"; then
        echo "error: $peer failed:" >&2
        tail -n 5 "$made/$peer.log" >&2
        status=1
    fi
done
"$tool" gpubench --archive-file "$archive" --device cuda --export-json "$made/records.jsonl" add1 >/dev/null 2>"$made/gpubench.log" || {
    echo "error: cargo gpubench ended with $?:" >&2
    tail -n 5 "$made/gpubench.log" >&2
    status=1
}
python3 table.py "$made/rows" "$made/records.jsonl" || status=1
exit "$status"
