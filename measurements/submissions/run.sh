#!/usr/bin/env bash
# Measures submissions from the tests of the online judge Tensara, which git fetches.
#
# usage: run.sh [OPTIONS of cargo gpubench, or `archive` and its options]
#
# Copies the `.cu` files unchanged to solutions, which git ignores. Prints the revision and the
# checksums, and runs `cargo gpubench` on this package. Needs nvcc, found on PATH or named in NVCC.
# GPUBENCH is the path of a built cargo-gpubench; TENSARA is a local clone to fetch from.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
repository=$(cd -- "$here/../.." && pwd)
revision=fae96618976cc3285cc791857b263c602cced005
solutions=$here/solutions

if [ "$(cat "$solutions/revision" 2>/dev/null)" != "$revision" ]; then
    clone=$(mktemp -d)
    trap 'rm -rf -- "$clone"' EXIT
    git init --quiet "$clone"
    git -C "$clone" fetch --quiet --depth 1 "${TENSARA:-https://github.com/tensara/tensara}" "$revision"
    git -C "$clone" checkout --quiet FETCH_HEAD -- testing/solutions
    rm -rf -- "$solutions"
    mkdir -- "$solutions"
    cp -- "$clone"/testing/solutions/*.cu "$solutions"
    echo "$revision" >"$solutions/revision"
fi
echo "tensara $revision"
(cd -- "$solutions" && sha256sum -- *.cu)
echo

exec "$repository/measurements/gpubench.sh" "$here/Cargo.toml" "$@"
