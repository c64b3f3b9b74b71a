#!/usr/bin/env bash
# Measures kernels of the published crate `candle-kernels`, which cargo fetches.
#
# usage: run.sh [OPTIONS of cargo gpubench, or `archive` and its options]
#
# Copies the crate's CUDA sources unchanged to src/candle-kernels, which git ignores. Prints the
# version and the checksums, and runs `cargo gpubench` on this package. GPUBENCH is the path of a
# built cargo-gpubench.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
repository=$(cd -- "$here/../.." && pwd)
manifest=$here/Cargo.toml

if ! metadata=$(cargo metadata --quiet --format-version 1 --manifest-path "$manifest"); then
    echo "error: the sources of candle-kernels are missing, and cargo could not fetch them (hint: the first run needs the network)" >&2
    exit 1
fi
read -r version crate < <(python3 -c '
import json, pathlib, sys

(found,) = [package for package in json.load(sys.stdin)["packages"] if package["name"] == "candle-kernels"]
print(found["version"], pathlib.Path(found["manifest_path"]).parent)
' <<<"$metadata")
copies=$here/src/candle-kernels
sums() { (cd -- "$1" && sha256sum -- *.cu *.cuh); }
published=$(sums "$crate/src")
# Unchanged files are not touched, so cargo does not compile them again.
if [ "$(sums "$copies" 2>/dev/null)" != "$published" ]; then
    rm -rf -- "$copies"
    mkdir -- "$copies"
    cp -- "$crate"/src/*.cu "$crate"/src/*.cuh "$copies"
fi
echo "candle-kernels $version"
echo "$published"
echo

exec "$repository/measurements/gpubench.sh" "$manifest" "$@"
