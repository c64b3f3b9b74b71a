"""Sends a solution as FlashInfer-Bench writes it, and reads the answers with its models.

Its package imports PyTorch, so only its data models are imported.
"""

import importlib.machinery
import importlib.util
import json
import os
import sys
import types
import urllib.request
from pathlib import Path
from typing import Any, Dict, List, Optional


def package(name, folder):
    """Makes a package whose own code does not run."""
    module = types.ModuleType(name)
    module.__path__ = [str(folder)]
    module.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)
    sys.modules[name] = module


root = Path(importlib.util.find_spec("flashinfer_bench").origin).parent
package("flashinfer_bench", root)
package("flashinfer_bench.data", root / "data")

from flashinfer_bench.data.solution import BuildSpec, Solution, SourceFile  # noqa: E402
from flashinfer_bench.data.trace import Trace  # noqa: E402
from pydantic import BaseModel, TypeAdapter  # noqa: E402


class TaskResponse(BaseModel):
    """An answer about a task, with the fields of FlashInfer-Bench's `serve`."""

    task_id: str
    status: str
    definition: str
    solution: str
    traces: Optional[List[Dict[str, Any]]] = None
    error: Optional[str] = None


opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def call(path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(os.environ["GPUBENCH_JUDGE"] + path, data, {"Content-Type": "application/json"})
    with opener.open(request) as answer:
        return json.load(answer)


solution = Solution(
    name="fast",
    definition="double",
    author="somebody",
    description="pass",
    spec=BuildSpec(
        language="cuda",
        target_hardware=["cuda"],
        entry_point="kernel.cu::run",
        dependencies=[],
        destination_passing_style=True,
    ),
    sources=[SourceFile(path="kernel.cu", content="void run();")],
)
evaluated = call("/evaluate", {"solution": solution.model_dump(mode="json"), "workload_uuids": None})
assert set(evaluated) == {"task_id", "normalized_solution_name"}, evaluated
task = TaskResponse.model_validate(call(f"/tasks/{evaluated['task_id']}?timeout=60.0"))
assert task.status == "completed" and task.solution == evaluated["normalized_solution_name"], task
traces = [Trace.model_validate(trace) for trace in task.traces]
assert [trace.workload.uuid for trace in traces] == ["small", "large"], traces
assert all(trace.is_successful() for trace in traces), traces
batch = call("/tasks/batch", {"task_ids": [task.task_id], "timeout": 0})
assert TypeAdapter(List[TaskResponse]).validate_python(batch) == [task], batch
