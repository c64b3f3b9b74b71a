#!/bin/sh
# A fake `cargo-gpubench gpubench grade`. What it does is in the description of the solution.
set -u
[ "$1 $2" = "gpubench grade" ] || exit 2
while [ $# -gt 0 ]; do
    case $1 in
    --definition) definition=$2 ;;
    --workloads) workloads=$2 ;;
    --solution) solution=$2 ;;
    --export-trace) traces=$2 ;;
    --device) device=$2 ;;
    --python) [ -f "$2" ] || { echo "no $2" >&2; exit 2; } ;;
    esac
    shift
done
[ -f "$definition" ] || exit 2
value() { sed -n 's/.*"'"$1"'":"\([^"]*\)".*/\1/p' "$solution"; }
task=$(basename "$(dirname "$traces")")
say() { [ -z "${FAKE_TOOL_LOG:-}" ] || echo "$1 $task $device $$" >>"$FAKE_TOOL_LOG"; }
judge() {
    sed -n 's/.*"uuid": *"\([^"]*\)".*/\1/p' "$workloads" | head -n "${1:-1000}" | while read -r uuid; do
        printf '{"definition":"%s","workload":{"uuid":"%s","axes":{"n":4},"inputs":{}},"solution":"%s",' \
            "$(value definition)" "$uuid" "$(value name)"
        printf '"evaluation":{"status":"PASSED","environment":{"hardware":"%s","libs":{}},"timestamp":"t","log":"%s",' "$device" "${log:-}"
        printf '"correctness":{"max_relative_error":0.0,"max_absolute_error":0.0},'
        printf '"performance":{"latency_ms":0.5,"reference_latency_ms":1.0,"speedup_factor":2.0}}}\n'
    done >"$traces"
}
say begin
set -- $(value description)
case ${1:-pass} in
pass) judge ;;
long) log=$(head -c 3000000 /dev/zero | tr '\0' a); judge ;;
fails) judge; say end; exit 100 ;;
sleep) sleep "$2"; judge ;;
hang) trap '' TERM; while :; do sleep 0.2; done ;;
crash) kill -SEGV $$ ;;
exit) judge; echo "it ends" >&2; exit "$2" ;;
print) exec yes "too much" >&2 ;;
flood) exec yes "too much" >"$traces" ;;
garbage) printf '\377\000{{{' >"$traces" ;;
part) judge 1 ;;
none) printf '%2000s\nerror: no kernel\n' x >&2; say end; exit 100 ;;
link) ln -s /etc/passwd "$traces" ;;
leave) judge; sleep 5 & ;;
esac
say end
