#!/usr/bin/env bash
# Measures how the number of hardware queues in the workers' contexts changes a small kernel's time
# and the start of its workers, on a GPU. The referee always has the driver's default number.
#
#   queues.sh TOOL SUITE
#
# TOOL and SUITE are cargo-gpubench and suite.tar.gz from the FOLDER of run.sh.
set -euo pipefail
if [ $# != 2 ]; then
    echo "usage: queues.sh TOOL SUITE" >&2
    exit 2
fi
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
records=$(mktemp)
trap 'rm -f -- "$records"' EXIT
for queues in 8 4 3 2 1; do
    echo "$queues hardware queues"
    CUDA_DEVICE_MAX_CONNECTIONS=$queues "$1" gpubench --device cuda --archive-file "$2" --workers 20 --min-samples 1000 --max-samples 1000 --max-time 60s \
        --export-json "$records" 'add1.*n=1024' >&2
    python3 "$here/workers.py" "$records"
    python3 "$here/residuals.py" "$records"
done
