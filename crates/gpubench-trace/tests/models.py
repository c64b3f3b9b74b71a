"""Reads and writes documents with the data models of their own projects.

    models.py read PROJECT FOLDER     reads the documents in FOLDER; writes what it read
    models.py write PROJECT FOLDER    writes documents of all kinds
    models.py compare PROJECT FOLDER  compares documents that were read and written again
    models.py rules PROJECT           prints which combinations of null are accepted
    models.py expressions             prints expressions and their values

PROJECT is `flashinfer-bench`, or a checkout of SOL-ExecBench. Its packages import PyTorch when they
are imported as a whole, so only the modules with the models are.
"""

import importlib
import importlib.util
import json
import random
import sys
import types
from pathlib import Path


def package(name, folder):
    module = types.ModuleType(name)
    module.__path__ = [str(folder)]
    sys.modules[name] = module


def models(project):
    if project == "flashinfer-bench":
        root = Path(importlib.util.find_spec("flashinfer_bench").origin).parent
        package("flashinfer_bench", root)
        package("flashinfer_bench.data", root / "data")
        data = "flashinfer_bench.data"
    else:
        root = Path(project) / "src" / "sol_execbench"
        package("sol_execbench", root)
        package("sol_execbench.core", root / "core")
        package("sol_execbench.core.data", root / "core" / "data")
        data = "sol_execbench.core.data"
    names = ["definition", "workload", "solution", "trace"]
    modules = {name: importlib.import_module(f"{data}.{name}") for name in names}
    found = types.SimpleNamespace(**modules)
    assert "torch" not in sys.modules
    return found


def documents(kinds, folder):
    """The documents of a folder, by their kinds."""
    single = {"definition.json": kinds.definition.Definition, "solution.json": kinds.solution.Solution}
    lines = {"traces.jsonl": kinds.trace.Trace, "workloads.jsonl": kinds.workload.Workload}
    for name, kind in single.items():
        yield name, kind.model_validate_json((folder / name).read_text())
    for name, kind in lines.items():
        for number, line in enumerate((folder / name).read_text().splitlines()):
            yield f"{name}:{number + 1}", kind.model_validate_json(line)


def read(kinds, folder):
    count = 0
    for name, document in documents(kinds, folder):
        count += 1
        if isinstance(document, kinds.trace.Trace):
            print(name, document.evaluation.status.value, json.dumps((document.evaluation.correctness or document).model_dump().get("extra")))
    print(count, "documents")


REFERENCE = "import torch\n\n\ndef run(x, eps, on):\n    return x * eps\n"


def write(kinds, folder):
    is_sol = hasattr(kinds.definition, "AxisExpr")
    fields = {"name": "scaled ä", "op_type": "elementwise", "description": 'with "quotes"\n'}
    axes = {"rows": {"type": "var", "description": "of x"}, "columns": {"type": "const", "value": 64}}
    if is_sol:
        axes["half"] = {"type": "expr", "expression": "columns // 2"}
        fields |= {"hf_id": "some/model"}
    else:
        fields |= {"tags": ["status:draft"], "constraints": ["rows > 0"]}
    definition = kinds.definition.Definition(
        **fields,
        axes=axes,
        inputs={
            "x": {"shape": ["rows", "columns"], "dtype": "bfloat16"},
            "eps": {"shape": None, "dtype": "float32"},
            "on": {"shape": [], "dtype": "bool"},
        },
        outputs={"y": {"shape": ["rows", "columns"], "dtype": "float8_e4m3fn"}},
        reference=REFERENCE,
    )
    (folder / "definition.json").write_text(definition.model_dump_json(indent=2))
    spec = {"target_hardware": ["LOCAL"], "entry_point": "a/kernel.cu::run"}
    spec |= {"languages": ["cuda_cpp"], "compile_options": {"cflags": ["-O2"]}} if is_sol else {"language": "cuda", "binding": "tvm-ffi"}
    solution = kinds.solution.Solution(
        name="fast",
        definition="scaled ä",
        author="somebody",
        spec=spec,
        sources=[{"path": "a/kernel.cu", "content": "int x;\n"}, {"path": "b.h", "content": "\t// ä"}],
    )
    (folder / "solution.json").write_text(solution.model_dump_json())
    inputs = [
        {},
        {"x": {"type": "random"}, "eps": {"type": "scalar", "value": 1e-6}, "on": {"type": "scalar", "value": True}},
        {"eps": {"type": "scalar", "value": 3}, "x": {"type": "safetensors", "path": "b/x", "tensor_key": "k"}},
    ]
    workloads = [kinds.workload.Workload(axes={"rows": 4}, inputs=given, uuid="w") for given in inputs]
    (folder / "workloads.jsonl").write_text("".join(each.model_dump_json() + "\n" for each in workloads))
    traces = [kinds.trace.Trace(definition="scaled ä", workload=each) for each in workloads]
    figures = [{}, {"max_relative_error": 0.5, "max_absolute_error": 1e-9, "extra": {"a": [1, None, {"b": "ä"}]}}]
    if not is_sol:
        figures += [{"max_relative_error": float("nan"), "max_absolute_error": float("inf")}]
    for status in kinds.trace.EvaluationStatus:
        for correctness in figures:
            is_compared = status.value in ("PASSED", "INCORRECT_NUMERICAL")
            evaluation = kinds.trace.Evaluation(
                status=status,
                environment={"hardware": "NVIDIA H200", "libs": {"torch": "2.8"}},
                timestamp="2026-01-01T00:00:00",
                log="a\nb\x1b[0m",
                correctness=correctness if is_compared else None,
                performance={"latency_ms": 0.5, "speedup_factor": 2} if status.value == "PASSED" else None,
            )
            traces.append(kinds.trace.Trace(definition="d", workload=workloads[1], solution="s", evaluation=evaluation))
    (folder / "traces.jsonl").write_text("".join(each.model_dump_json() + "\n" for each in traces))


def compare(kinds, folder):
    count = 0
    pairs = zip(documents(kinds, folder), documents(kinds, folder / "again"), strict=True)
    for (name, first), (_, second) in pairs:
        # As text, in which a NaN is equal to itself.
        assert first.model_dump_json() == second.model_dump_json(), name
        count += 1
    print(count, "documents")


def rules(kinds):
    for status in kinds.trace.EvaluationStatus:
        for correctness in (None, {}):
            for performance in (None, {}):
                fields = {"correctness": correctness, "performance": performance}
                try:
                    kinds.trace.Evaluation(
                        status=status, environment={"hardware": "x"}, timestamp="t", **fields
                    )
                    is_accepted = True
                except ValueError:
                    is_accepted = False
                print(status.value, correctness is not None, performance is not None, is_accepted)


def expression(rng, depth):
    kind = rng.randrange(10)
    if depth == 0 or kind < 3:
        numbers = [str(rng.randrange(300)), str(rng.randrange(3)), f"{rng.randrange(9)}.5", "2e3", "n", "m", "zero"]
        return rng.choice(numbers)
    if kind == 3:
        return rng.choice("+-") + rng.choice(["", " "]) + expression(rng, depth - 1)
    if kind == 4:
        return f"({expression(rng, depth - 1)})"
    operator = rng.choice(["+", "-", "*", "/", "//", "%", "**"])
    space = rng.choice(["", " "])
    return f"{expression(rng, depth - 1)}{space}{operator}{space}{expression(rng, depth - 1)}"


def expressions():
    rng = random.Random(7)
    axes = {"n": 12, "m": 4097, "zero": 0}
    for _ in range(4000):
        text = expression(rng, rng.randrange(1, 5))
        # A tower of powers has more digits than memory.
        if text.count("**") > 1:
            continue
        try:
            value = eval(text, {"__builtins__": {}}, axes)
        except (ZeroDivisionError, OverflowError):
            value = None
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        # Larger integers than those that are computed there, some with thousands of digits.
        is_large = isinstance(value, int) and abs(value) >= 1 << 127
        print(json.dumps([text, "large" if is_large else str(value) if isinstance(value, int) else None]))


def main():
    action, *rest = sys.argv[1:]
    if action == "expressions":
        return expressions()
    kinds = models(rest[0])
    folder = [Path(each) for each in rest[1:]]
    return {"read": read, "write": write, "compare": compare, "rules": rules}[action](kinds, *folder)


if __name__ == "__main__":
    main()
