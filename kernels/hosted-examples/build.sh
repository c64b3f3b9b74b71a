#!/usr/bin/env bash
# Builds the examples. If nvcc is neither on PATH nor in NVCC, the script installs the Python
# package `nvidia-cuda-nvcc` below the target directory.
set -euo pipefail
cd "$(dirname -- "${BASH_SOURCE[0]}")"
export CARGO_PROFILE_DEV_DEBUG=0
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-$PWD/../../target}/hosted-examples

if [ -n "${NVCC:-}" ]; then
    folder=$(dirname -- "$(command -v "$NVCC")")
    export PATH=$folder:$PATH CUDA_HOME=${CUDA_HOME:-$(dirname -- "$folder")}
elif ! command -v nvcc >/dev/null; then
    venv=$CARGO_TARGET_DIR/nvcc
    if [ ! -x "$venv/bin/pip" ]; then python3 -m venv "$venv"; fi
    "$venv/bin/pip" install --quiet nvidia-cuda-nvcc==13.0.* nvidia-cuda-runtime==13.0.* nvidia-cuda-crt==13.0.* nvidia-nvvm==13.0.* nvidia-cuda-cccl==13.0.* nvidia-curand==10.4.0.*
    root=$(echo "$venv"/lib/python3*/site-packages/nvidia/cu13)
    export PATH=$root/bin:$PATH CUDA_HOME=$root
    # Builds search a toolkit's folders, and the package has its headers and libraries elsewhere.
    mkdir -p "$root/targets/x86_64-linux"
    ln -sfn ../../include "$root/targets/x86_64-linux/include"
    ln -sfn ../../lib "$root/targets/x86_64-linux/lib"
    ln -sfn libcudart.so.13 "$root/lib/libcudart.so"
    export LD_LIBRARY_PATH=$root/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
fi

# bindgen reads C with libclang. The wheel of libclang lacks the compiler's headers.
if [ -z "${LIBCLANG_PATH:-}" ]; then
    libclang=$CARGO_TARGET_DIR/libclang
    if [ ! -x "$libclang/bin/pip" ]; then python3 -m venv "$libclang"; fi
    "$libclang/bin/pip" install --quiet libclang==18.1.1
    LIBCLANG_PATH=$(echo "$libclang"/lib/python3*/site-packages/clang/native)
    BINDGEN_EXTRA_CLANG_ARGS="-isystem $(cc -print-file-name=include)"
    export LIBCLANG_PATH BINDGEN_EXTRA_CLANG_ARGS
fi

for example in launcher bindgen solution cudarc cublas rust-ptx; do
    echo "building $example"
    (cd "$example" && cargo build --quiet)
done

# Tests without a GPU: the CUDA C++ of CubeCL is that in the crate, and cutile-rs compiles its
# kernel.
for example in cubecl cutile; do
    echo "testing $example"
    (cd "$example" && cargo test --quiet --lib)
done

# candle's tests run on the CPU, but their program links the libraries of CUDA. Where those are
# missing, stubs are enough.
echo "testing candle"
stubs=$CARGO_TARGET_DIR/stubs
candle/stubs.py "$stubs"
export CUDA_COMPUTE_CAP=${CUDA_COMPUTE_CAP:-80}
export LIBRARY_PATH=$stubs/link${LIBRARY_PATH:+:$LIBRARY_PATH}
export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$stubs/load
(cd candle && cargo test --quiet)
