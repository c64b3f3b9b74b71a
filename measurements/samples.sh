#!/usr/bin/env bash
# Counts the files of NVIDIA's cuda-samples that compile unchanged, for the CPU device and for a
# GPU.
#
# usage: samples.sh [FOLDER [NVRTC]]
#
# FOLDER is a checkout of https://github.com/NVIDIA/cuda-samples. Without it, the script clones one
# below target/. This repository has no copy of it. NVRTC is the value of `--nvrtc`: the
# tool searches it first for both GPU compilers. samples.txt lists the files and one kernel of each.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
repository=$(cd -- "$here/.." && pwd)
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
