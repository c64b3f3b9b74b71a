//! The files in `deploy/`, which make `gpubench-probe` a service, agree with the program and with
//! each other. `.ci/run deploy` checks them with the tools that read them.
#![forbid(unsafe_code)]

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Output};

use gpubench_tests::{copy_program, probe_program, repository};
use regex::Regex;

const UNIT: &str = "deploy/systemd/gpubench-probe.service";
const RECORDS: &str = "deploy/systemd/records.conf";
const IMAGE: &str = "deploy/container/Dockerfile";
const MANIFEST: &str = "deploy/kubernetes/gpubench-probe.yaml";
const ALERTS: &str = "deploy/prometheus/gpubench-probe.rules.yml";

fn text(file: &str) -> String {
    std::fs::read_to_string(repository().join(file)).expect("the file is there")
}

/// Returns the values of a key of the unit, in order.
fn values(file: &str, key: &str) -> Vec<String> {
    let start = format!("{key}=");
    let text = text(file);
    text.lines()
        .filter_map(|line| line.strip_prefix(&start).map(str::to_owned))
        .collect()
}

/// Returns the only group of the only place where a pattern is found.
fn only(text: &str, pattern: &str) -> String {
    let pattern = Regex::new(pattern).expect("a pattern");
    let found: Vec<_> = pattern.captures_iter(text).map(|found| found[1].to_owned()).collect();
    let [one] = &found[..] else {
        panic!("{pattern} once, not {}", found.len());
    };
    one.clone()
}

/// Returns the words of a list such as `["--system", --quiet, "a,b"]`.
fn words(list: &str) -> Vec<String> {
    let word = Regex::new(r#""([^"]*)"|([^",\s]+)"#).expect("a pattern");
    let found = word.captures_iter(list);
    let words = found.filter_map(|found| found.get(1).or_else(|| found.get(2)));
    words.map(|word| word.as_str().to_owned()).collect()
}

/// The capabilities of the unit.
fn capabilities() -> Vec<String> {
    let ambient = values(UNIT, "AmbientCapabilities");
    assert_eq!(ambient, values(UNIT, "CapabilityBoundingSet"));
    ambient[0].split(' ').map(str::to_owned).collect()
}

fn skipped(test: &str, why: &str) {
    let _ = std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("`{test}` was skipped: {why}\n"));
}

/// The program where every user reaches it.
struct Installed {
    folder: tempfile::TempDir,
}

impl Installed {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(folder.path(), open).expect("it is ours");
        copy_program(probe_program().as_std_path(), &folder.path().join("gpubench-probe"));
        Self { folder }
    }

    /// Runs it as the unit does: as a user of its own, with these capabilities as ambient ones.
    fn run(&self, capabilities: &[String], arguments: &[&str]) -> Output {
        let sets = ["--inh-caps", "--ambient-caps", "--bounding-set"].map(|set| {
            let names = capabilities.iter().map(|name| name.to_lowercase());
            let added: String = names
                .map(|name| format!(",+{}", name.trim_start_matches("cap_")))
                .collect();
            format!("{set}=-all{added}")
        });
        Command::new("setpriv")
            .args(["--reuid=65533", "--regid=65533", "--clear-groups", "--no-new-privs"])
            .args(sets)
            .arg(self.folder.path().join("gpubench-probe"))
            .args(arguments)
            .env("NO_COLOR", "1")
            .output()
            .expect("`setpriv` is part of util-linux")
    }

    fn abilities(&self, capabilities: &[String]) -> serde_json::Value {
        let output = self.run(capabilities, &["--abilities"]);
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
    }
}

#[test]
fn a_unit_without_a_capability_is_told_which_one_and_the_line_to_add() {
    const TEST: &str = "a_unit_without_a_capability_is_told_which_one_and_the_line_to_add";
    if !rustix::process::geteuid().is_root() {
        return skipped(TEST, "it needs root");
    }
    let program = Installed::new();
    let all = capabilities();
    let with_all = program.abilities(&all);
    if with_all["ability"] != "probes" {
        return skipped(TEST, &format!("calls cannot be observed here: {}", with_all["missing"]));
    }
    assert_eq!(with_all["missing"], serde_json::Value::Null);
    for missing in ["CAP_BPF", "CAP_PERFMON", "CAP_SYS_PTRACE"] {
        let others: Vec<_> = all.iter().filter(|name| *name != missing).cloned().collect();
        assert_eq!(others.len() + 1, all.len(), "the unit has {missing}");
        let remedy = program.abilities(&others)["missing"]["remedy"].to_string();
        assert!(remedy.contains(&format!("`{missing}` is missing")), "{remedy}");
        assert!(remedy.contains(&format!("`AmbientCapabilities={missing}`")), "{remedy}");
        // Without the last one the service runs, and sees less.
        if missing != "CAP_SYS_PTRACE" {
            let output = program.run(&others, &["--system", "--quiet", "--metrics-addr", "127.0.0.1:0"]);
            assert_eq!(output.status.code(), Some(96), "{output:?}");
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(said.contains(&format!("`AmbientCapabilities={missing}`")), "{said}");
        }
    }
}

#[test]
fn the_unit_starts_under_systemd_with_all_that_it_takes_away() {
    let script = repository().join("deploy/systemd/try-unit");
    let output = Command::new(script.as_std_path())
        .arg(probe_program().as_std_path())
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout);
    match output.status.code() {
        Some(77) => skipped(
            "the_unit_starts_under_systemd_with_all_that_it_takes_away",
            said.trim_end(),
        ),
        code => assert_eq!(code, Some(0), "{output:?}"),
    }
}

#[test]
fn the_unit_does_not_start_again_and_again_where_a_right_is_missing() {
    let codes = values(UNIT, "RestartPreventExitStatus");
    let codes: Vec<_> = codes[0].split(' ').collect();
    for code in [
        gpubench_diagnostic::ExitCode::Usage,
        gpubench_diagnostic::ExitCode::SetupMissing,
    ] {
        let code = code.number().to_string();
        assert!(codes.contains(&&*code), "{code} in {codes:?}");
    }
}

#[test]
fn the_manifest_gives_the_same_capabilities_as_the_unit_and_no_others() {
    let manifest = text(MANIFEST);
    let added = words(&only(&manifest, r"add: \[(.*)\]"));
    let named: Vec<_> = added.iter().map(|name| format!("CAP_{name}")).collect();
    assert_eq!(named, capabilities());
    for line in [
        "drop: [ALL]",
        "hostPID: true",
        "readOnlyRootFilesystem: true",
        "allowPrivilegeEscalation: false",
        "automountServiceAccountToken: false",
    ] {
        assert!(manifest.contains(line), "{line}");
    }
    // Each of these would give the machine to whoever takes over the program.
    for line in ["privileged: true", "hostPath", "hostNetwork", "SYS_ADMIN"] {
        assert!(!manifest.contains(line), "{line}");
    }
}

#[test]
fn options_of_unit_image_and_manifest_are_those_of_the_program() {
    let unit = |file| {
        let starts = values(file, "ExecStart");
        let start = starts.last().expect("a command").clone();
        let mut words = start.split(' ').map(str::to_owned);
        assert_eq!(words.next().as_deref(), Some("/usr/local/bin/gpubench-probe"));
        words.collect::<Vec<_>>()
    };
    let address = only(&text(UNIT), "Environment=METRICS_ADDRESS=(.*)");
    let image = words(&only(&text(IMAGE), r"(?m)^CMD \[(.*)\]"));
    let manifest = words(&only(&text(MANIFEST), r"args: \[(.*)\]"));
    for arguments in [unit(UNIT), unit(RECORDS), image, manifest] {
        assert!(arguments.contains(&"--system".to_owned()), "{arguments:?}");
        let arguments = arguments.into_iter().map(|word| match &*word {
            // Tests run side by side.
            "${METRICS_ADDRESS}" => address.replace(":9000", ":0"),
            "0.0.0.0:9000" => "127.0.0.1:0".to_owned(),
            _ => word,
        });
        let output = Command::new(probe_program().as_std_path())
            .args(arguments)
            .args(["--duration", "50ms"])
            .output()
            .expect("it runs");
        // 96: this machine lets nothing be observed.
        assert!(matches!(output.status.code(), Some(0 | 96)), "{output:?}");
    }
}

#[test]
fn the_image_has_the_program_with_its_licences_and_nothing_else() {
    let recipe = text(IMAGE);
    let (_, image) = recipe.rsplit_once("\nFROM ").expect("stages");
    let mut lines = image.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    assert_eq!(lines.next(), Some("scratch"));
    let (copies, rest): (Vec<_>, Vec<_>) = lines.partition(|line| line.starts_with("COPY --from=build "));
    let [program, licences] = copies[..] else {
        panic!("{copies:?}")
    };
    assert!(
        program.ends_with("/x86_64-unknown-linux-musl/release/gpubench-probe /gpubench-probe"),
        "{program}"
    );
    assert!(licences.ends_with(" /licenses/"), "{licences}");
    let words: BTreeSet<_> = rest.iter().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(words, BTreeSet::from(["USER", "EXPOSE", "ENTRYPOINT", "CMD"]));
}

#[test]
fn alerts_name_only_metrics_and_errors_that_exist() {
    let alerts = text(ALERTS);
    let metrics = text("docs/reference/metrics.md");
    let metric = Regex::new(r"\bgpubench_(?:cuda|probe)_\w+").expect("a pattern");
    let named: BTreeSet<_> = metric.find_iter(&alerts).map(|found| found.as_str()).collect();
    assert!(named.len() > 3, "{named:?}");
    for name in named {
        assert!(metrics.contains(&format!("`{name}`")), "{name}");
    }
    let results = text("crates/gpubench-observe/src/result_code.rs");
    let error = Regex::new(r#"error=~?"CUDA_ERROR_\(?([A-Z_|.*]+)"#).expect("a pattern");
    let errors = error.captures_iter(&alerts).flat_map(|found| {
        let names = found[1].split('|').map(str::to_owned);
        names.collect::<Vec<_>>()
    });
    let errors: BTreeSet<_> = errors.collect();
    assert!(errors.len() > 10, "{errors:?}");
    for error in errors {
        let written = Regex::new(&format!("\"CUDA_ERROR_{error}\"")).expect("a pattern");
        assert!(written.is_match(&results), "{error}");
    }
}

#[test]
fn alerts_and_dashboard_select_only_by_labels_that_the_metrics_have() {
    let reference = text("docs/reference/metrics.md");
    let row = Regex::new(r"(?m)^\| `(gpubench_\w+)` \| \w+ \| (.*?) \|").expect("a pattern");
    let labels: BTreeMap<_, _> = row
        .captures_iter(&reference)
        .map(|found| (found[1].to_owned(), found[2].to_owned()))
        .collect();
    assert!(labels.len() > 20, "{labels:?}");
    // By choice, after `program`. The manifest chooses these.
    let chosen = ["pod", "container"];
    let manifest = words(&only(&text(MANIFEST), r"args: \[(.*)\]"));
    assert!(manifest.contains(&chosen.join(",")), "{manifest:?}");
    let selector = Regex::new(r#"(gpubench_(?:cuda|probe)_\w+)\{([^}]*)\}"#).expect("a pattern");
    let label = Regex::new(r"(\w+)\s*(?:=~|!~|!=|=)").expect("a pattern");
    let dashboard = text("docs/grafana/gpubench-probe.json").replace("\\\"", "\"");
    let mut selected = BTreeSet::new();
    for file in [
        text(ALERTS),
        text("deploy/prometheus/gpubench-probe.rules.test.yml"),
        dashboard,
    ] {
        for found in selector.captures_iter(&file) {
            // The rows of a histogram have names of their own.
            let ends = ["_bucket", "_count", "_sum"];
            let family = ends.iter().find_map(|end| labels.get(found[1].strip_suffix(end)?));
            let of_metric = labels.get(&found[1]).or(family);
            let of_metric = of_metric.unwrap_or_else(|| panic!("{}", &found[0]));
            for name in label.captures_iter(&found[2]).map(|found| found[1].to_owned()) {
                let is_target = matches!(&*name, "job" | "instance");
                let is_chosen = chosen.contains(&&*name) && of_metric.contains("`program`");
                let is_known = is_target || is_chosen || of_metric.contains(&format!("`{name}`"));
                assert!(is_known, "`{name}` in {}", &found[0]);
                selected.insert(name);
            }
        }
    }
    assert!(
        selected.contains("program") && selected.contains("label"),
        "{selected:?}"
    );
}

#[test]
fn every_alert_has_a_test_and_a_text() {
    let (alerts, tests) = (text(ALERTS), text("deploy/prometheus/gpubench-probe.rules.test.yml"));
    let name = Regex::new(r"- alert: (\w+)").expect("a pattern");
    let names: Vec<_> = name.captures_iter(&alerts).map(|found| found[1].to_owned()).collect();
    assert!(names.len() > 5);
    for name in &names {
        assert!(tests.contains(name), "{name}");
    }
    for key in ["severity:", "summary:", "description:"] {
        assert_eq!(alerts.matches(key).count(), names.len(), "{key}");
    }
    let guide = text("docs/guides/probe-service.md");
    for name in &names {
        assert!(guide.contains(&format!("`{name}`")), "{name} in the guide");
    }
}

#[test]
fn each_expression_of_the_dashboard_is_of_the_chosen_nodes() {
    let dashboard: serde_json::Value = serde_json::from_str(&text("docs/grafana/gpubench-probe.json")).expect("JSON");
    let variables = dashboard["templating"]["list"].as_array().expect("a list");
    let variables: Vec<_> = variables
        .iter()
        .filter_map(|variable| variable["name"].as_str())
        .collect();
    assert_eq!(variables, ["source", "instance", "program", "pod"]);
    let metric = Regex::new(r"gpubench_\w+(.{0,23})").expect("a pattern");
    let panels = dashboard["panels"].as_array().expect("panels");
    for target in panels
        .iter()
        .flat_map(|panel| panel["targets"].as_array().expect("targets"))
    {
        let expression = target["expr"].as_str().expect("an expression");
        for found in metric.captures_iter(expression) {
            assert!(found[1].starts_with(r#"{instance=~"$instance""#), "{expression}");
        }
    }
}
