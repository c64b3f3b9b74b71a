#!/usr/bin/env python3
"""Grades many submissions in one run, on the CPU device, and prints what the command used.

    measurements/many_submissions.py TOOL [NUMBER]

One submission in ten is wrong, and one in fifty does not compile. Each is another source, so none
comes from the cache. Prints the wall time, the largest memory of the command's own process in the
first tenth and in the last, its largest number of open files, and the verdicts.
"""
import collections, json, os, pathlib, subprocess, sys, tempfile, threading, time

TOOL, NUMBER = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 500
FIXTURE = pathlib.Path(__file__).resolve().parent.parent / "tests/fixtures/graded"
RIGHT = """/* gpubench
grid = "ceil_div(rows, 32)"
block = 32
*/
// submission %d
__global__ void row_sums(const float *matrix, float *sums, int rows, int cols) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float sum = %s;
    for (int col = 0; col < cols; ++col) sum += matrix[row * cols + col];
    sums[row] = sum;
}
"""


def source(number):
    if number % 50 == 7:
        return RIGHT % (number, "undeclared")
    return RIGHT % (number, "1" if number % 10 == 3 else "0")


def watch(process, seen, done):
    while not done.wait(0.05):
        try:
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
            kib = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
            seen.append((kib, len(os.listdir(f"/proc/{process.pid}/fd"))))
        except (OSError, StopIteration):
            return


with tempfile.TemporaryDirectory() as folder:
    files = []
    for number in range(NUMBER):
        path = pathlib.Path(folder) / f"s{number:04}.cu"
        path.write_text(source(number))
        files.append(str(path))
    command = [TOOL, "gpubench", "grade", "--offline", "--problem", "row_sums", "--test", "--axis", "rows=64",
               "--message-format", "json", *files]
    began, seen, done = time.monotonic(), [], threading.Event()
    process = subprocess.Popen(command, cwd=FIXTURE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    watcher = threading.Thread(target=watch, args=(process, seen, done))
    watcher.start()
    verdicts, results = collections.Counter(), []
    for line in process.stdout:
        record = json.loads(line)
        if record["reason"] == "benchmark-complete":
            verdicts[record["verdict"], record["cause"]] += 1
            results.append((record["benchmark"], len(seen)))
    code = process.wait()
    done.set()
    watcher.join()

assert [name for name, _ in results] == [f"s{number:04}" for number in range(NUMBER)], "the order is not the given one"
measured = [sample for _, sample in results]
first, last = seen[measured[0] : measured[NUMBER // 10] + 1], seen[measured[-NUMBER // 10] :]
print(f"{NUMBER} submissions in {time.monotonic() - began:.0f} s, exit code {code}")
print(f"memory of the command while it judges: {max(k for k, _ in first) / 1024:.0f} MiB in the first tenth,"
      f" {max(k for k, _ in last) / 1024:.0f} MiB in the last; at most {max(f for _, f in seen)} files open")
for (verdict, cause), count in sorted(verdicts.items(), key=str):
    print(f"{count:5}  {verdict}{': ' + cause if cause else ''}")
