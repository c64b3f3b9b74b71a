#!/usr/bin/env bash
# Measures hosted twins of the suite's benchmarks: host code makes the same launches of the same
# compiled kernels.
#
# usage: run.sh SUITE.tar.gz [OPTIONS of cargo gpubench, or `archive` and its options]
#
# SUITE.tar.gz is an archive of the suite with kernels compiled ahead for one GPU architecture
# (`cargo gpubench archive --package gpubench-problems --gpu-arch sm_90`), which the twins embed.
# GPUBENCH is the path of a built cargo-gpubench. `twins.py` compares an export of this run with one
# of the suite.
set -euo pipefail
if [ $# -lt 1 ]; then
    echo "usage: run.sh SUITE.tar.gz [OPTIONS of cargo gpubench, or archive and its options]" >&2
    exit 2
fi
suite=$(realpath -- "$1")
shift
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
repository=$(cd -- "$here/../.." && pwd)
manifest=$here/Cargo.toml

export TWINS_KERNELS=${CARGO_TARGET_DIR:-$repository/target}/twins-kernels
python3 - "$suite" "$TWINS_KERNELS" <<'PYTHON'
import json, pathlib, sys, tarfile

archive, folder = sys.argv[1], pathlib.Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)
rows = []
with tarfile.open(archive) as files:
    kernels = json.load(files.extractfile("manifest.json"))["kernels"]
    kernels = [kernel for kernel in kernels if kernel["target"].startswith("sm_")]
    targets = {kernel["target"] for kernel in kernels}
    if len(targets) != 1:
        sys.exit(f"error: `{archive}` has kernels for {len(targets)} GPU architectures, and twins are of one (hint: `--gpu-arch sm_90`)")
    for number, kernel in enumerate(kernels):
        (folder / str(number)).write_bytes(files.extractfile(kernel["file"]["path"]).read())
        rows.append(f'    ({json.dumps(kernel["source_name"])}, include_bytes!("{folder / str(number)}")),\n')
table = f"static IMAGES: &[(&str, &[u8])] = &[\n{''.join(rows)}];\n"
file = folder / "table.rs"
# Unchanged files are not touched, so cargo does not compile them again.
if not file.exists() or file.read_text() != table:
    file.write_text(table)
print(f"{len(rows)} sources of {', '.join(targets)}")
PYTHON

exec "$repository/measurements/gpubench.sh" "$manifest" "$@"
