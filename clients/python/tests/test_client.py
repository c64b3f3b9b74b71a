"""The client and the examples with a server, whose tool is a fake one.

python -m unittest, with `GPUBENCH_JUDGE`: what the fake tool does with a solution is in its description, and the examples
have none, so it passes them.
"""

import asyncio
import os
import sys
import types
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path += [str(HERE / "kernelbot"), str(HERE.parent / "examples")]

from gpubench_client import Judge, JudgeError, latency_ms, passed, reward  # noqa: E402

ADDRESS = os.environ["GPUBENCH_JUDGE"]


def solution(description="pass"):
    return {
        "name": "fast",
        "definition": "double",
        "author": "somebody",
        "description": description,
        "spec": {"language": "cuda", "target_hardware": ["cuda"], "entry_point": "kernel.cu::run"},
        "sources": [{"path": "kernel.cu", "content": "void run();"}],
    }


class ClientTest(unittest.TestCase):
    def test_a_verdict_has_a_time_and_a_reward(self):
        answer = Judge(ADDRESS).evaluate(solution())
        self.assertTrue(passed(answer))
        self.assertEqual(latency_ms(answer), 0.5)
        self.assertEqual((reward(answer), reward(answer, over_ms=2.0)), (1.0, 4.0))

    def test_a_task_without_a_verdict_has_no_reward_even_with_traces(self):
        for description in ["exit 96", "part", "garbage"]:
            answer = Judge(ADDRESS).evaluate(solution(description))
            self.assertEqual((passed(answer), reward(answer), reward(answer, 1e9)), (False, 0.0, 0.0), answer)

    def test_a_wrong_kernel_among_right_ones_has_no_reward(self):
        answer = Judge(ADDRESS).evaluate(solution())
        answer["traces"][1]["evaluation"].update(status="INCORRECT_NUMERICAL", performance=None)
        self.assertEqual((passed(answer), reward(answer), reward(answer, 1e9)), (False, 0.0, 0.0))

    def test_a_wait_ends(self):
        judge = Judge(ADDRESS, timeout=0.2)
        with self.assertRaisesRegex(JudgeError, "still (running|pending)"):
            judge.evaluate(solution("sleep 2"))

    def test_refusals_say_why(self):
        judge = Judge(ADDRESS)
        with self.assertRaisesRegex(JudgeError, "Definition not found: none") as caught:
            judge.submit({**solution(), "definition": "none"})
        self.assertEqual(caught.exception.status, 400)
        with self.assertRaisesRegex(JudgeError, "Task not found"):
            judge.wait("../health?")
        with self.assertRaisesRegex(JudgeError, "no answer from"):
            Judge("unix:/nowhere").health()
        with self.assertRaises(ValueError):
            Judge("https://localhost:1").health()
        self.assertEqual(judge.health()["status"], "ok")


class VerifiersTest(unittest.TestCase):
    def reward_of(self, text, **info):
        from verifiers_reward import right_and_fast

        completion = [{"role": "assistant", "content": text}]
        info = {"definition": "double", **info}
        return asyncio.run(right_and_fast(prompt=[], completion=completion, answer="", info=info, state={}, task="t"))

    def test_the_last_block_of_code_is_graded(self):
        self.assertEqual(self.reward_of("Here:\n```cuda\nvoid run();\n```\n"), 1.0)
        self.assertEqual(self.reward_of("```cpp\nvoid run();\n```", over_ms=1.0), 2.0)

    def test_no_code_has_no_reward(self):
        for text in ["", "I cannot.", "```cuda\n```", "```cuda\n\n```"]:
            self.assertEqual(self.reward_of(text), 0.0)

    def test_a_mistake_of_the_set_up_is_no_reward_of_zero(self):
        with self.assertRaises(JudgeError):
            self.reward_of("```cuda\nvoid run();\n```", definition="none")


class KernelBotTest(unittest.TestCase):
    def test_a_launcher_returns_what_the_bot_ranks(self):
        from kernelbot_launcher import JudgeLauncher

        class Status:
            async def push(self, text):
                self.text = text

        gpu = types.SimpleNamespace(name="H200")
        config = {"lang": "cu", "mode": "leaderboard", "sources": {"submission.cu": "void run();"}}
        launcher = JudgeLauncher([gpu], "double", Judge(ADDRESS))
        full = asyncio.run(launcher.run_submission(config, gpu, Status()))
        run = full.runs["leaderboard"].run
        self.assertTrue(full.success and run.success and run.passed, full)
        self.assertEqual((run.result["check"], run.result["benchmark-count"]), ("pass", "2"))
        self.assertEqual(float(run.result["benchmark.1.mean"]), 500_000.0)
        refused = asyncio.run(JudgeLauncher([gpu], "none", Judge(ADDRESS)).run_submission(config, gpu, Status()))
        self.assertFalse(refused.success)
        self.assertIn("Definition not found", refused.error)


if __name__ == "__main__":
    unittest.main()
