#!/usr/bin/env bash
# Makes the files that run.sh needs on a GPU machine without cargo or sources. This machine needs
# cargo and the sources, but no GPU.
#
#   pack.sh FOLDER [OPTIONS of cargo gpubench archive]
#
# With `--gpu-arch sm_90 --nvrtc "$(.ci/cuda-tools 13)/nvidia/cu13/lib"` kernels are compiled ahead
# of time; otherwise on the GPU machine.
set -euo pipefail
if [ $# -lt 1 ]; then
    echo "usage: pack.sh FOLDER [OPTIONS of cargo gpubench archive]" >&2
    exit 2
fi
mkdir -p -- "$1"
folder=$(realpath -- "$1")
shift
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.."

# Prints the executable of a target of this kind, as cargo's messages name it.
built_from() {
    python3 -c '
import json, sys

artifacts = [message for message in map(json.loads, sys.stdin) if message["reason"] == "compiler-artifact"]
(found,) = [artifact["executable"] for artifact in artifacts if artifact["executable"] and artifact["target"]["kind"] == [sys.argv[1]]]
print(found)
' "$1"
}

# Builds with cargo and keeps one stripped executable.
executable() {
    local name=$1 package=$2 kind=$3 built
    shift 3
    built=$(cargo "$@" --package "$package" --message-format json | built_from "$kind")
    strip -o "$folder/$name" -- "$built"
    echo "$name: $(stat -c %s -- "$folder/$name") bytes"
}

pack() {
    local name=$1
    shift
    "$@" --archive-file "$folder/$name.tar.gz"
}

executable cargo-gpubench cargo-gpubench bin build --release --bin cargo-gpubench
executable kernels gpubench-device bench bench --bench cuda_kernels --no-run
executable tests gpubench-device lib test --release --lib --no-run
tool=$folder/cargo-gpubench
pack suite "$tool" gpubench archive --package gpubench-problems "$@"
pack attacks "$tool" gpubench archive --manifest-path tests/fixtures/gpu/Cargo.toml "$@"
pack cublas "$tool" gpubench archive --manifest-path kernels/hosted-examples/cublas/Cargo.toml "$@"
export GPUBENCH=$tool
pack published measurements/published/run.sh archive "$@"
# Twins embed the compiled kernels of the suite's archive.
case " $* " in *" --gpu-arch"*) pack twins measurements/twins/run.sh "$folder/suite.tar.gz" archive "$@" ;; esac
