#!/usr/bin/env bash
# How many files of NVIDIA's cuda-samples compile as they are, for the CPU device and for a GPU.
#
# usage: samples.sh [FOLDER [NVRTC]]
#
# FOLDER is a checkout of https://github.com/NVIDIA/cuda-samples, which is cloned below target/
# without one; nothing of it is ever part of this repository. NVRTC is what `--nvrtc` names: both
# compilers of GPUs are looked for there first. samples.txt names the files, and one kernel of each.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
repository=$(cd -- "$here/../.." && pwd)
samples=${1:-$repository/target/cuda-samples}
if [ ! -d "$samples/Samples" ]; then
    git clone --quiet --depth 1 https://github.com/NVIDIA/cuda-samples "$samples"
fi
cd -- "$repository"
cargo build --quiet -p gpubench-device --example compile_sources
program=${CARGO_TARGET_DIR:-target}/debug/examples/compile_sources
for how in cpu nvrtc gpu; do
    echo "== $how"
    "$program" "$here/samples.txt" "$samples" "$how" ${2:+"$2"}
done
