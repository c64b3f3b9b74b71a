//! A comparison in CI: exit codes, warnings, JUnit and CSV of the real command.

mod run_folder;

use assert_cmd::assert::{Assert, OutputAssertExt};
use gpubench_store::testing::{Size, on_gpu, run};
use predicates::prelude::*;
use predicates::str::contains;
use run_folder::Folder;

const SIZE: Size = Size {
    workers: 5,
    samples: 20,
};

impl Folder {
    /// Returns a folder with `before.json`, `slower.json`, in which `axpy` takes 3 % longer, and
    /// `elsewhere.json` of another device.
    fn new() -> Folder {
        let folder = Folder::empty();
        folder.save("before.json", &run(1, &[("axpy", 1e5), ("softmax", 2e6)], SIZE));
        folder.save("slower.json", &run(3, &[("axpy", 1.03e5), ("softmax", 2e6)], SIZE));
        let elsewhere = run(6, &[("axpy", 2e5), ("softmax", 2e6)], SIZE);
        folder.save("elsewhere.json", &on_gpu("NVIDIA B200", elsewhere));
        folder
    }

    fn text(&self, name: &str) -> String {
        fs_err::read_to_string(self.path(name)).expect("the file")
    }

    /// Uses a stored run instead of measuring one.
    fn loaded(&self, run: &str, arguments: &[&str]) -> Assert {
        let loaded = [
            "--color",
            "never",
            "--load-baseline",
            run,
            "--baseline",
            "./before.json",
        ];
        self.command(&[&loaded, arguments].concat()).assert()
    }
}

#[test]
fn a_comparison_that_judged_nothing_warns_and_fails_on_request() {
    let folder = Folder::new();
    let warning =
        "no benchmark was judged against `before.json`: 2 not compared; a regression could have gone unnoticed";
    let compared = ["before.json", "elsewhere.json"];
    folder.compare(&compared).success().stderr(contains(warning));
    for when in ["all", "any"] {
        let arguments = [&compared[..], &["--fail-on-inconclusive", when]].concat();
        folder.compare(&arguments).code(6).stderr(contains(warning));
    }
    let warning = warning.replace("before.json", "./before.json");
    folder
        .loaded("./elsewhere.json", &[])
        .success()
        .stderr(contains(&*warning));
    folder
        .loaded("./elsewhere.json", &["--fail-on-inconclusive", "all"])
        .code(6)
        .stderr(contains(&*warning));
}

#[test]
fn new_benchmarks_alone_do_not_count_as_judged() {
    let folder = Folder::new();
    folder.save("new.json", &run(4, &[("gemm", 1e6)], SIZE));
    let lenient = [
        "--load-baseline",
        "./new.json",
        "--baseline-lenient",
        "./before.json",
        "--fail-on-inconclusive",
        "all",
        "--export-junit",
        "r.xml",
    ];
    folder.command(&lenient).assert().code(6).stderr(contains("1 new"));
    let junit = folder.text("r.xml");
    assert!(
        junit.contains("tests=\"2\" skipped=\"0\" failures=\"1\"")
            && junit.contains("<failure message=\"no benchmark was judged against `./before.json`: 1 new"),
        "{junit}"
    );
}

#[test]
fn a_partly_judged_comparison_passes_with_all_and_fails_with_any() {
    let folder = Folder::new();
    let mut partly = run(2, &[("axpy", 1e5), ("softmax", 2e6)], SIZE);
    partly.results[1].environment.flush_bytes = Some(0);
    folder.save("partly.json", &partly);
    let compared = ["before.json", "partly.json", "--fail-on-inconclusive"];
    folder
        .compare(&[&compared[..], &["all"]].concat())
        .success()
        .stdout(contains("1 not compared"))
        .stderr(contains("no benchmark was judged").not());
    folder.compare(&[&compared[..], &["any"]].concat()).code(6);
}

#[test]
fn a_regression_outweighs_unjudged_benchmarks() {
    let folder = Folder::new();
    folder
        .compare(&[
            "before.json",
            "elsewhere.json",
            "slower.json",
            "--fail-on-inconclusive",
            "any",
        ])
        .code(3);
}

#[test]
fn the_environment_variable_has_the_same_effect() {
    let folder = Folder::new();
    let mut command = folder.command(&["compare", "before.json", "elsewhere.json"]);
    command.env("GPUBENCH_FAIL_ON_INCONCLUSIVE", "all").assert().code(6);
}

#[test]
fn junit_and_csv_report_a_regression() {
    let folder = Folder::new();
    let exports = [
        "--export-junit",
        "r.xml",
        "--export-csv",
        "r.csv",
        "--export-markdown",
        "r.md",
    ];
    folder.loaded("./slower.json", &exports).code(3);
    let junit = folder.text("r.xml");
    assert!(junit.contains("failures=\"1\""), "{junit}");
    assert!(
        junit.contains("type=\"regressed\">regressed against `./before.json`: +"),
        "{junit}"
    );
    let csv = folder.text("r.csv");
    let header: Vec<&str> = csv.lines().next().expect("a header").split(',').collect();
    let at = header
        .iter()
        .position(|column| *column == "change_verdict")
        .expect("a column");
    let verdicts: Vec<&str> = csv.lines().skip(1).filter_map(|row| row.split(',').nth(at)).collect();
    assert_eq!(verdicts, ["regressed", "no-change"]);
    assert!(folder.text("r.md").contains("❌ **regressed** | `axpy`"));

    folder
        .loaded("./slower.json", &[&exports[..], &["--no-fail-on-regression"]].concat())
        .success();
    let junit = folder.text("r.xml");
    assert!(
        junit.contains("failures=\"0\"") && junit.contains("regressed against"),
        "{junit}"
    );
}
