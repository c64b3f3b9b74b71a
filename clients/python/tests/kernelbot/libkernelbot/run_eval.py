from dataclasses import dataclass, field, make_dataclass

EvalResult = make_dataclass("EvalResult", ["start", "end", "compilation", "run", "profile"])
RunResult = make_dataclass(
    "RunResult", ["success", "passed", "command", "stdout", "stderr", "exit_code", "duration", "result"]
)


@dataclass
class SystemInfo:
    gpu: str = ""
    device_count: int = 1
    cpu: str = ""
    runtime: str = ""
    platform: str = ""
    torch: str = ""


@dataclass
class FullResult:
    success: bool
    error: str
    system: SystemInfo
    runs: dict = field(default_factory=dict)
