#!/usr/bin/env bash
# Measures runs over the nodes of a Slurm that it starts on this machine, with the CPU device: what
# `srun` costs, and 200 cases while something is killed every ten seconds. Needs what `.ci/slurm`
# needs.
set -euo pipefail
cd "$(dirname -- "${BASH_SOURCE[0]}")/.."
cargo test --quiet --package gpubench-tests --test slurm -- \
    --include-ignored --nocapture --test-threads 1 --exact \
    a_hundred_tiny_cases_in_a_job_and_in_one_process \
    two_hundred_cases_are_counted_once_while_something_is_killed_every_ten_seconds
