#!/usr/bin/env bash
# Everything that is measured on a GPU, on a machine without cargo or sources, each to a dated file.
#
#   run.sh TOOL ARCHIVE BENCH OUTPUT [WHEELS]
#
# Made on a build machine:
#
#   TOOL      cargo build --release -p cargo-gpubench            target/release/cargo-gpubench
#   ARCHIVE   cargo gpubench archive --archive-file suite.tar.gz -p gpubench-suite
#   BENCH     cargo bench -p cargo-gpubench --bench cuda_kernels --no-run       the executable it names
#
# OUTPUT is a folder for the files; WHEELS is for peers/run.sh.
set -uo pipefail
if [ $# -lt 4 ]; then
    echo "usage: run.sh TOOL ARCHIVE BENCH OUTPUT [WHEELS]" >&2
    exit 2
fi
tool=$(realpath -- "$1") archive=$(realpath -- "$2") bench=$(realpath -- "$3") wheels=${5:+$(realpath -- "$5")}
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
mkdir -p -- "$4"
cd -- "$4" || exit 1
day=$(date +%F)
status=0

# Runs a command with its output in a file of the day, and says how it ended.
measure() {
    local what=$1 file=$day-$1.txt
    shift
    local started=$SECONDS ended=0
    "$@" >"$file" 2>&1 || ended=$?
    echo "$what: exit $ended after $((SECONDS - started)) s, $file"
    if [ "$ended" != 0 ]; then status=1; fi
}

machine() {
    uname -sr
    lscpu | grep -E 'Model name|^CPU\(s\)'
    nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.max.sm,clocks.mem,power.limit,persistence_mode,mig.mode.current --format=csv
    nvidia-smi --query-compute-apps=pid,used_memory --format=csv
    uptime
}

measure machine machine
measure doctor "$tool" gpubench doctor
measure kernels "$bench"
measure suite "$tool" gpubench --archive-file "$archive" --device cuda --export-json "$day-suite.jsonl"
measure peers "$here/peers/run.sh" "$tool" "$archive" ${wheels:+"$wheels"}
exit "$status"
