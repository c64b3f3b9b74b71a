"""A client of `gpubench-serve`, and of every server with the requests of FlashInfer-Bench's `serve`."""

from __future__ import annotations

import http.client
import json
import math
import socket
import sys
import time
import urllib.parse

__version__ = "0.1.0"
__all__ = ["Judge", "JudgeError", "latency_ms", "passed", "reward"]

# A server may answer a wait with less than it was asked for.
_LONGEST_WAIT = 60.0


class JudgeError(Exception):
    """The server refused a request, or had no answer in time. `status` is that of HTTP, or None."""

    def __init__(self, message: str, status: int | None = None):
        super().__init__(message)
        self.status = status


class _SocketConnection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: float):
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class Judge:
    """A server at `unix:FILE` or `http://HOST:PORT`. `timeout` limits each verdict, in seconds."""

    def __init__(self, address: str = "http://127.0.0.1:8000", timeout: float = 900.0):
        self._address = address
        self._timeout = timeout

    def evaluate(self, solution: dict, workload_uuids: list[str] | None = None) -> dict:
        """Submits a solution and waits for its answer, which has a trace for each workload.

        A wrong kernel is an answer, too: see `passed`. Raises `JudgeError` if there is none.
        """
        deadline = time.monotonic() + self._timeout
        return self.wait(self._submit(solution, workload_uuids, deadline), deadline - time.monotonic())

    def submit(self, solution: dict, workload_uuids: list[str] | None = None) -> str:
        """Submits a solution. Waits while the server's queue is full. Returns the name of the task."""
        return self._submit(solution, workload_uuids, time.monotonic() + self._timeout)

    def wait(self, task_id: str, timeout: float | None = None) -> dict:
        """Waits for the answer about a task."""
        deadline = time.monotonic() + (self._timeout if timeout is None else timeout)
        path = f"/tasks/{urllib.parse.quote(task_id, safe='')}"
        while True:
            left = max(0.0, deadline - time.monotonic())
            answer = self._request("GET", f"{path}?timeout={min(left, _LONGEST_WAIT):.3f}", None, deadline)
            if answer["status"] in ("completed", "failed"):
                return answer
            if left == 0.0:
                raise JudgeError(f"task {task_id} is still {answer['status']}")

    def health(self) -> dict:
        """Returns the devices of the server, and how many tasks wait."""
        return self._request("GET", "/health", None, time.monotonic() + self._timeout)

    def _submit(self, solution: dict, workload_uuids: list[str] | None, deadline: float) -> str:
        body = {"solution": solution, "workload_uuids": workload_uuids}
        return self._request("POST", "/evaluate", body, deadline)["task_id"]

    def _connection(self) -> http.client.HTTPConnection:
        if self._address.startswith("unix:"):
            return _SocketConnection(self._address[len("unix:") :], 2 * _LONGEST_WAIT)
        url = urllib.parse.urlsplit(self._address)
        if url.scheme != "http" or not url.hostname:
            raise ValueError(f"not `unix:FILE` or `http://HOST:PORT`: {self._address!r}")
        return http.client.HTTPConnection(url.hostname, url.port or 80, timeout=2 * _LONGEST_WAIT)

    def _request(self, method: str, path: str, body: dict | None, deadline: float) -> dict:
        sent = None if body is None else json.dumps(body).encode()
        headers = {} if body is None else {"Content-Type": "application/json"}
        while True:
            connection = self._connection()
            try:
                connection.request(method, path, sent, headers)
                response = connection.getresponse()
                text = response.read()
            except (OSError, http.client.HTTPException) as error:
                raise JudgeError(f"no answer from {self._address}: {error}") from error
            finally:
                connection.close()
            busy = response.status == 503 and response.headers.get("Retry-After", "").isdigit()
            pause = float(response.headers["Retry-After"]) if busy else 0.0
            if busy and time.monotonic() + pause < deadline:
                time.sleep(pause)
                continue
            try:
                answer = json.loads(text)
            except ValueError:
                raise JudgeError(f"no JSON, but {text[:200]!r}", response.status) from None
            if response.status != 200:
                raise JudgeError(f"{response.status}: {answer.get('detail', answer)}", response.status)
            return answer


def passed(answer: dict) -> bool:
    """Whether the kernel was right with each workload. A task that failed has no verdict."""
    traces = answer["traces"] or []
    statuses = [trace["evaluation"]["status"] for trace in traces]
    return answer["status"] == "completed" and bool(statuses) and all(status == "PASSED" for status in statuses)


def latency_ms(answer: dict) -> float | None:
    """The geometric mean of the times of all workloads, in milliseconds. None if it did not pass."""
    if not passed(answer):
        return None
    times = [trace["evaluation"]["performance"]["latency_ms"] for trace in answer["traces"]]
    return math.exp(sum(map(math.log, times)) / len(times)) if min(times) > 0 else None


def reward(answer: dict, over_ms: float | None = None) -> float:
    """1 if the kernel passed, or how many times as fast it is as `over_ms`. 0 if it did not pass."""
    if over_ms is None:
        return float(passed(answer))
    time_ms = latency_ms(answer)
    return over_ms / time_ms if time_ms else 0.0


def main() -> int:
    """Grades a file: `gpubench-client ADDRESS SOLUTION.json`."""
    if len(sys.argv) != 3:
        print("usage: gpubench-client ADDRESS SOLUTION.json", file=sys.stderr)
        return 2
    try:
        with open(sys.argv[2], encoding="utf-8") as file:
            answer = Judge(sys.argv[1]).evaluate(json.load(file))
    except (JudgeError, OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(json.dumps(answer))
    if answer["status"] == "failed":
        return 3
    return 0 if passed(answer) else 1
