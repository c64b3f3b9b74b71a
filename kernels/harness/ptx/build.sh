#!/bin/sh
# Compiles the harness kernels to PTX and cubins into the directory given, by default the one of
# this script, with a pinned NVRTC that is installed into a virtual environment under the target
# directory. Needs python3 with venv.
set -eu
package=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
output=${1:-$package/ptx}
mkdir -p "$output"
tools=${CARGO_TARGET_DIR:-$package/../../target}/harness-tools
if ! "$tools/nvrtc/bin/python" -c 'import nvidia.cuda_nvrtc' 2>/dev/null; then
    python3 -m venv --clear "$tools/nvrtc"
    "$tools/nvrtc/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: nvidia-cuda-nvrtc-cu12==12.9.86
fi
"$tools/nvrtc/bin/python" -B "$package/ptx/compile.py" "$package" "$output"
