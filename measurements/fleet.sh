#!/usr/bin/env bash
# Measures runs over the nodes of a Slurm that it starts on this machine, with the CPU device: what
# `srun` costs, and 200 cases while a node fails every ten seconds. Needs what `.ci/slurm` needs.
set -euo pipefail
cd "$(dirname -- "${BASH_SOURCE[0]}")/.."
cargo test --quiet --package gpubench-tests --test slurm -- --ignored --nocapture --test-threads 1
