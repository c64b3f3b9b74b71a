"""A reward for `verifiers`: `vf.Rubric(funcs=[right_and_fast])`.

The row of the data set has `info["definition"]`, and `info["over_ms"]` if a time is known that the
kernel should beat.
"""

import asyncio
import os
import re

from gpubench_client import Judge, JudgeError, reward

JUDGE = Judge(os.environ.get("GPUBENCH_JUDGE", "http://127.0.0.1:8000"))
CODE = re.compile(r"```(?:cuda|cpp|c\+\+)\n(.*?)```", re.DOTALL)


def solution_of(completion, definition):
    """Returns the last block of code of the last message as a solution. None without one."""
    blocks = CODE.findall(completion[-1]["content"])
    if not blocks or not blocks[-1].strip():
        return None
    return {
        "name": "completion",
        "definition": definition,
        "author": "policy",
        "spec": {
            "language": "cuda",
            "target_hardware": ["cuda"],
            "entry_point": "kernel.cu::run",
            "binding": "tvm-ffi",
        },
        "sources": [{"path": "kernel.cu", "content": blocks[-1]}],
    }


async def right_and_fast(completion, info, **_) -> float:
    solution = solution_of(completion, info["definition"])
    if solution is None:
        return 0.0
    try:
        answer = await asyncio.to_thread(JUDGE.evaluate, solution)
    except JudgeError as error:
        if error.status == 422:  # no solution at all
            return 0.0
        raise
    # The kernel is not to blame for what has no verdict, and must not gain from it.
    if answer["status"] == "failed":
        raise RuntimeError(answer["error"])
    return reward(answer, info.get("over_ms"))
