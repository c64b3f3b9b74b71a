#!/usr/bin/env bash
# Counts how often `cargo gpubench --against` with the defaults finds a kernel that is 3 % slower,
# and how often it reports one of the same speed as slower, on the CPU device.
#
# usage: found.sh [RUNS]
#
# Makes a crate in a temporary folder, with kernels of about 20 µs, 150 µs and 1 ms on one core and
# one that copies memory. Prints for each case how many of RUNS (10) comparisons ended in each
# verdict. GPUBENCH is the path of a built cargo-gpubench.
set -euo pipefail

runs=${1:-10}
repository=$(cd "$(dirname "$0")/.." && pwd)
if [ -z "${GPUBENCH:-}" ]; then
    cargo build --quiet --release --manifest-path "$repository/Cargo.toml" --package cargo-gpubench
    GPUBENCH=$repository/target/release/cargo-gpubench
fi
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
mkdir -p "$made/spin/src"
cd "$made/spin"

cat >Cargo.toml <<TOML
[package]
name = "spin"
version = "0.0.0"
edition = "2024"

[workspace]

[dependencies]
gpubench = { path = "$repository/gpubench" }
TOML
printf 'target\nCargo.lock\n' >.gitignore
cat >src/lib.rs <<'RUST'
use gpubench::prelude::*;

cuda_source!(SPIN = "spin.cu");

fn vectors(n: usize) -> Tensors {
    Tensors::new().input("x", u32::shape([n]), Bits).output("y", u32::shape([n]))
}

fn on_cpu(_n: usize, x: &[u32], y: &mut [u32]) {
    y.copy_from_slice(x);
}

#[gpubench(axes(n = [16, 128, 1024]), tensors = vectors(n), reference = on_cpu, exact)]
fn spin(launcher: &mut Launcher, n: usize, x: In<u32>, y: Out<u32>) -> Result<()> {
    launcher.launch(SPIN.kernel("spin"), Grid::covering(n, 16), (x, y, n))
}

#[gpubench(axes(n = [262144]), tensors = vectors(n), reference = on_cpu, exact)]
fn copy(launcher: &mut Launcher, n: usize, x: In<u32>, y: Out<u32>) -> Result<()> {
    launcher.launch(SPIN.kernel("copy"), Grid::covering(n, 256), (x, y, n))
}
RUST
cat >src/spin.cu <<'CUDA'
#define ROUNDS 1000

extern "C" __global__ void spin(const unsigned *x, unsigned *y, size_t n) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned state = x[i];
  for (unsigned round = 0; round < ROUNDS; ++round) state = state * 1664525u + 1013904223u;
  volatile unsigned sink = state;
  (void)sink;
  y[i] = x[i];
}

extern "C" __global__ void copy(const unsigned *x, unsigned *y, size_t n) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}
CUDA

keep() { git add --all && git -c user.name=nobody -c user.email=nobody@localhost commit --quiet --message "$1" && git tag "$1"; }
git init --quiet --initial-branch main
keep fast
sed -i 's/ROUNDS 1000/ROUNDS 1030/' src/spin.cu
keep slow

against() {
    for run in $(seq "$runs"); do
        status=0
        "$GPUBENCH" gpubench --device cpu --against "$1" --message-format json >"$made/$1.$run" 2>"$made/log" || status=$?
        case $status in 0 | 3) ;; *) cat "$made/log" >&2 && exit "$status" ;; esac
        echo "$status" >>"$made/$1.exits"
        cut -d ' ' -f 1 /proc/loadavg >>"$made/loads"
    done
}
against fast
against slow

python3 - "$made" "$runs" <<'PYTHON'
import collections, json, os, pathlib, statistics, sys

made, runs = pathlib.Path(sys.argv[1]), int(sys.argv[2])
loads = [float(line) for line in (made / "loads").read_text().split()]
print(f"{os.cpu_count()} processors, load {min(loads):.1f} to {max(loads):.1f}, of which the tool causes about one\n")
print("| candidate | case | ratio, median | interval reaches, median | rounds, mean | verdicts | seconds, mean |")
print("|---|---|--:|--:|--:|---|--:|")
for name, against in [("`spin` 3 % slower", "fast"), ("the same code", "slow")]:
    rows, seconds = collections.defaultdict(list), collections.defaultdict(list)
    for run in range(1, runs + 1):
        for line in (made / f"{against}.{run}").read_text().splitlines():
            record = json.loads(line)
            if record["reason"] == "benchmark-complete":
                seconds[record["case"]].append(record["wall_ns"] / 1e9)
            for row in record.get("rows", []):
                rows[row["case"]].append(row)
    for case, seen in rows.items():
        change = [row["change"] for row in seen]
        ratio = statistics.median(one["ratio"] for one in change)
        reach = statistics.median(one["interval"][1] / one["ratio"] - 1 for one in change)
        rounds = statistics.mean(row["candidate"]["workers"] for row in seen)
        verdicts = collections.Counter(row["verdict"] for row in seen)
        verdicts = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common())
        print(f"| {name} | `{case}` | {ratio:.4f} | ±{reach:.2%} | {rounds:.1f} | {verdicts} | {statistics.mean(seconds[case]):.1f} |")
    exits = collections.Counter((made / f"{against}.exits").read_text().split())
    exits = ", ".join(f"{code} in {count}" for code, count in sorted(exits.items()))
    print(f"| {name} | exit code | | | | {exits} of {runs} | |")
PYTHON
