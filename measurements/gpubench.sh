#!/usr/bin/env bash
# Runs `cargo gpubench` of this repository on a package.
#
# usage: gpubench.sh MANIFEST [OPTIONS of cargo gpubench, or `archive` and its options]
#
# GPUBENCH is the path of a built cargo-gpubench; without it, this builds one.
set -euo pipefail
repository=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
manifest=$1
shift

if [ -z "${GPUBENCH:-}" ]; then
    cargo build --quiet --release --manifest-path "$repository/Cargo.toml" --package cargo-gpubench
    GPUBENCH=${CARGO_TARGET_DIR:-$repository/target}/release/cargo-gpubench
fi

if [ "${1-}" = archive ]; then
    shift
    set -- archive --manifest-path "$manifest" "$@"
else
    set -- --manifest-path "$manifest" "$@"
fi
exec "$GPUBENCH" gpubench "$@"
