#!/usr/bin/env bash
# Measures an archive on the first two GPUs of a host: twice at once, shared, and on the first with
# two processors.
#
#   two_gpus.sh TOOL ARCHIVE
#
# TOOL is the executable of cargo-gpubench. Each line has a measurement and its time.
set -euo pipefail
if [ $# -ne 2 ]; then
    echo "usage: two_gpus.sh TOOL ARCHIVE" >&2
    exit 2
fi
tool=$(realpath -- "$1") archive=$(realpath -- "$2")
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
cd -- "$folder"

# Runs the archive, with the words before its name as a prefix of the command.
suite() {
    local gpu=$1
    shift
    XDG_DATA_HOME=$folder/$gpu "$@" "$tool" gpubench --archive-file "$archive" --device "$gpu" >"$gpu.txt" 2>&1
}

# Runs a command and prints how long it took.
timed() {
    local what=$1 began=$EPOCHREALTIME
    shift
    "$@"
    awk -v what="$what" -v from="$began" -v to="$EPOCHREALTIME" 'BEGIN { printf "%s: %.1f s\n", what, to - from }'
}

both_by_number() {
    suite cuda:0 env & suite cuda:1 env &
    wait -n && wait -n
}

both_with_one_visible() {
    suite cuda env CUDA_VISIBLE_DEVICES=0 & (cd -- "$(mktemp -d -p "$folder")" && suite cuda env CUDA_VISIBLE_DEVICES=1) &
    wait -n && wait -n
}

timed "both at once" both_by_number
timed "both at once, each run sees one GPU" both_with_one_visible
timed "both share the cases" suite cuda:0,1 env
timed "one, with two processors" suite cuda:0 taskset -c 0,1
