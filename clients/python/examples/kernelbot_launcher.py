"""A launcher for KernelBot: `backend.register_launcher(JudgeLauncher(gpus, definition, judge))`.

A submission is a file of CUDA C++ with a function `run` of TVM-FFI. The definition has the cases, so
the tests and benchmarks of the task are not used.
"""

import asyncio
import datetime

from libkernelbot.launchers import Launcher
from libkernelbot.run_eval import EvalResult, FullResult, RunResult, SystemInfo

from gpubench_client import Judge, JudgeError, passed


class JudgeLauncher(Launcher):
    def __init__(self, gpus, definition: str, judge: Judge):
        super().__init__("gpubench", gpus=gpus)
        self._definition = definition
        self._judge = judge

    async def run_submission(self, config: dict, gpu_type, status) -> FullResult:
        start = datetime.datetime.now(datetime.timezone.utc)
        await status.push(f"Grading on {gpu_type.name}")
        try:
            answer = await asyncio.to_thread(self._judge.evaluate, self._solution(config))
        except JudgeError as error:
            return FullResult(success=False, error=str(error), system=SystemInfo())
        if answer["status"] == "failed":
            return FullResult(success=False, error=answer["error"], system=SystemInfo())
        evaluations = [trace["evaluation"] for trace in answer["traces"]]
        end = datetime.datetime.now(datetime.timezone.utc)
        right = passed(answer)
        run = RunResult(
            success=True,
            passed=right,
            command="cargo gpubench grade",
            stdout="",
            stderr="\n".join(evaluation["log"] for evaluation in evaluations if evaluation["status"] != "PASSED"),
            exit_code=0 if right else 1,
            duration=(end - start).total_seconds(),
            result=self._result(evaluations, right),
        )
        result = EvalResult(start=start, end=end, compilation=None, run=run, profile=None)
        system = SystemInfo(gpu=evaluations[0]["environment"]["hardware"], runtime="CUDA")
        return FullResult(success=True, error="", system=system, runs={config["mode"]: result})

    def _solution(self, config: dict) -> dict:
        sources = {**config.get("headers", {}), **config["sources"]}
        main = next(iter(config["sources"]))
        return {
            "name": "submission",
            "definition": self._definition,
            "author": "kernelbot",
            "spec": {"language": "cuda", "target_hardware": ["cuda"], "entry_point": f"{main}::run"},
            "sources": [{"path": path, "content": content} for path, content in sources.items()],
        }

    @staticmethod
    def _result(evaluations: list, right: bool) -> dict:
        """The keys that KernelBot reads, as texts. Times are in nanoseconds."""
        found = {"check": "pass" if right else "fail", "benchmark-count": str(len(evaluations))}
        for place, evaluation in enumerate(evaluations):
            found[f"benchmark.{place}.status"] = "pass" if evaluation["status"] == "PASSED" else "fail"
            if evaluation["performance"]:
                found[f"benchmark.{place}.mean"] = repr(evaluation["performance"]["latency_ms"] * 1e6)
        return found
