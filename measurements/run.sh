#!/usr/bin/env bash
# Makes all measurements on a GPU and runs the tests that need one, on a machine without cargo or
# sources. Each writes a separate file.
#
#   run.sh FOLDER OUTPUT [WHEELS]
#
# FOLDER is made by pack.sh on a build machine, OUTPUT is the folder for the files, and WHEELS is
# for peers/run.sh. HONEST has the first and the last number of the honest cases, by default `0
# 109`. There are nine cases for each number; if HONEST is empty, none run. PARTS names the parts to
# run, by default all.
set -uo pipefail
if [ $# -lt 2 ]; then
    echo "usage: run.sh FOLDER OUTPUT [WHEELS]" >&2
    exit 2
fi
folder=$(realpath -- "$1")
tool=$folder/cargo-gpubench suite=$folder/suite.tar.gz attacks=$folder/attacks.tar.gz
wheels=${3:+$(realpath -- "$3")}
read -r first last <<<"${HONEST-0 109}"
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
verdicts=$here/../tests/fixtures/gpu/verdicts.py
mkdir -p -- "$2"
cd -- "$2" || exit 1
status=0

# Runs a command with its output in a file, and prints its exit code. Skips parts that are not in
# PARTS.
measure() {
    local what=$1 file=$1.txt
    shift
    case " ${PARTS-$what} " in *" $what "*) ;; *) return ;; esac
    local started=$SECONDS ended=0
    "$@" >"$file" 2>&1 || ended=$?
    echo "$what: exit $ended after $((SECONDS - started)) s, $file"
    if [ "$ended" != 0 ]; then status=1; fi
}

machine() {
    date
    uname -sr
    lscpu | grep -E 'Model name|^CPU\(s\)'
    nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.max.sm,clocks.mem,power.limit,persistence_mode,mig.mode.current --format=csv
    nvidia-smi --query-compute-apps=pid,used_memory --format=csv
    uptime
}

run() {
    "$tool" gpubench --device cuda --archive-file "$@"
}

# Each case has its own expected verdict. Most of them fail, and so does the run.
attack() {
    run "$attacks" --timeout 4s --export-json attacks.jsonl >attacks.log 2>&1
    python3 "$verdicts" attacks.jsonl
}

# No honest case may be accused, neither here nor in the suite. Each has one worker: more workers
# would add windows to a verdict, but no cases.
honest() {
    run "$attacks" --ignored --workers 1 takes_its_time --axis n=1024,300007,4000037 --axis "again=$(seq -s, "$first" "$last")" \
        --export-json honest.jsonl >honest.log 2>&1
    python3 "$here/accused.py" honest.jsonl suite.jsonl
}

# Hosted benchmarks that make the same launches as the suite's.
twins() {
    run "$folder/twins.tar.gz" --export-json twins.jsonl >twins.log 2>&1
    python3 "$here/twins.py" suite.jsonl twins.jsonl
}

# Fresh runs of the same cases.
repeat() {
    local records=()
    for number in 1 2 3 4 5; do
        run "$suite" --export-json "repeat$number.jsonl" add1 >"repeat$number.log" 2>&1 || return
        records+=("repeat$number.jsonl")
    done
    python3 "$here/repeat.py" "${records[@]}"
}

measure machine machine
measure doctor "$tool" gpubench doctor --device cuda
measure tests "$folder/tests" --ignored --test-threads 1
measure kernels "$folder/kernels"
measure suite run "$suite" --export-json suite.jsonl
if [ -e "$folder/twins.tar.gz" ]; then measure twins twins; fi
measure repeat repeat
measure add1-write run "$suite" --flush write add1
for samples in 1000 3000; do
    measure "samples$samples" run "$suite" --workers 1 --min-samples "$samples" --max-samples "$samples" --max-time 60s \
        --export-json "samples$samples.jsonl" 'add1.*n=1024'
    measure "rate$samples" python3 "$here/rate.py" "samples$samples.jsonl"
done
measure against run "$suite" --against-archive "$suite" add1 argmax softmax
measure attacks attack
measure cublas run "$folder/cublas.tar.gz"
measure published run "$folder/published.tar.gz"
measure queues "$here/queues.sh" "$tool" "$suite"
measure sharing "$here/sharing.sh" "$tool" "$suite"
measure peers "$here/peers/run.sh" "$tool" "$suite" ${wheels:+"$wheels"}
if [ -n "$first" ]; then measure honest honest; fi
exit "$status"
