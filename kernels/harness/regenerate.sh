#!/bin/sh
# Regenerates the bindings (bindgen) and the PTX and cubins (NVRTC) of this package. With --check it
# writes nothing and fails if a file differs. Installs pinned tools under the target directory.
set -eu
package=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
target=${CARGO_TARGET_DIR:-$package/../../target}
tools=$target/harness-tools

# bindgen reads C with libclang. The wheel of libclang lacks the compiler's headers.
if ! [ -e "$tools/libclang/ready" ]; then
    python3 -m venv --clear "$tools/libclang"
    "$tools/libclang/bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: libclang==18.1.1
    touch "$tools/libclang/ready"
fi
LIBCLANG_PATH=$("$tools/libclang/bin/python" -c 'import clang, os; print(os.path.join(clang.__path__[0], "native"))')
BINDGEN_EXTRA_CLANG_ARGS="-isystem $(cc -print-file-name=include)"
export LIBCLANG_PATH BINDGEN_EXTRA_CLANG_ARGS

case ${1-} in
"")
    "$package/ptx/build.sh"
    CARGO_TARGET_DIR=$tools/bindgen cargo run --quiet --locked --manifest-path "$package/bindgen/Cargo.toml"
    ;;
--check)
    made=$(mktemp -d)
    trap 'rm -rf "$made"' EXIT
    "$package/ptx/build.sh" "$made"
    for file in "$made"/*; do
        if ! python3 "$package/ptx/same.py" "$package/ptx/${file##*/}" "$file"; then
            echo "error: kernels/harness/ptx/${file##*/} differs from what NVRTC generates" >&2
            echo "help: run kernels/harness/regenerate.sh" >&2
            exit 1
        fi
    done
    CARGO_TARGET_DIR=$tools/bindgen cargo run --quiet --locked --manifest-path "$package/bindgen/Cargo.toml" -- --check
    ;;
*)
    echo "usage: regenerate.sh [--check]" >&2
    exit 2
    ;;
esac
