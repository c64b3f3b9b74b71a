"""A ReFrame test that measures the cases of an archive on each system that ReFrame knows."""

import json
import os

import reframe as rfm
import reframe.utility.sanity as sn
import reframe.utility.typecheck as typ


@rfm.simple_test
class Gpubench(rfm.RunOnlyRegressionTest):
    archive = variable(str)
    options = variable(typ.List[str], value=[])
    valid_systems, valid_prog_environs = ["*"], ["*"]
    executable = "cargo-gpubench"

    @run_before("run")
    def measure_the_archive(self):
        archive = os.path.abspath(self.archive)
        self.executable_opts = ["gpubench", "--archive-file", archive, "--export-json", "results.jsonl", *self.options]

    def results(self):
        with open(os.path.join(self.stagedir, "results.jsonl")) as lines:
            records = [json.loads(line) for line in lines]
        results = [record for record in records if record["reason"] == "benchmark-complete"]
        return [result for result in results if result["verdict"] != "skipped"]

    @sanity_function
    def every_case_passes(self):
        bad = [f'{result["case"]}: {result["message"]}' for result in self.results() if result["verdict"] != "pass"]
        return sn.all([sn.assert_true(self.results(), "no case was measured"), sn.assert_eq(bad, [])])

    @run_before("performance")
    def take_the_times(self):
        for result in self.results():
            # A colon would end the name.
            name = f'{result["benchmark"]}/{result["case"]}'.replace("::", "/")
            time = sn.defer(result["stats"]["value"])
            self.perf_variables[name] = sn.make_performance_function(time, "ns")
