//! Capabilities come from the caller, and no process has one that it does not need.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

use camino::{Utf8Path, Utf8PathBuf};
use gpubench_diagnostic::testing::need;
use gpubench_tests::{Fixture, Process, Run, copy_program, probe_program, tool, wait_until, write_script};
use rustix::process::Signal;

/// Says why a test did nothing here.
fn skipped(test: &str, why: &str) {
    let _ = std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("`{test}` was skipped: {why}\n"));
}

/// Whether the test can make executables with rights and become another user.
fn is_root(test: &str) -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        skipped(test, "it needs root");
    }
    is_root
}

/// A folder that every user can use.
struct Shared {
    _kept: tempfile::TempDir,
    path: Utf8PathBuf,
}

fn shared() -> Shared {
    let kept = tempfile::tempdir().expect("a folder");
    let path = Utf8PathBuf::from_path_buf(kept.path().to_owned()).expect("a UTF-8 path");
    let all = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(&path, all).expect("it is ours");
    Shared { _kept: kept, path }
}

impl Shared {
    /// The tool, with rights that `give` gives to its file.
    fn tool(&self, give: &[&str]) -> Utf8PathBuf {
        let _ = self.probe(&["chmod", "755"]);
        self.program(tool(), give)
    }

    /// `gpubench-probe`, with rights that `give` gives to its file.
    fn probe(&self, give: &[&str]) -> Utf8PathBuf {
        self.program(&probe_program(), give)
    }

    fn program(&self, built: &Utf8Path, give: &[&str]) -> Utf8PathBuf {
        let copy = self.path.join(built.file_name().expect("a name"));
        copy_program(built.as_std_path(), copy.as_std_path());
        let given = Command::new(give[0]).args(&give[1..]).arg(&copy).status();
        assert!(given.expect("it runs").success(), "{give:?}");
        copy
    }

    /// A library that writes the capabilities of each process that loads it, for `told`.
    fn tattler(&self) -> Utf8PathBuf {
        let source = self.path.join("tattler.c");
        std::fs::write(&source, TATTLER).expect("written");
        let library = self.path.join("libtattler.so");
        let compiled = Command::new("cc")
            .args(["-shared", "-fPIC", "-o", library.as_str(), source.as_str()])
            .status();
        assert!(compiled.expect("a C compiler").success());
        library
    }

    /// What the library told: a line for each process, its verb and its permitted and ambient
    /// capabilities.
    fn told(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.path.join("told")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn environment<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command
            .current_dir(&self.path)
            .env("TOLD", self.path.join("told"))
            .env("HOME", self.path.join("home"))
    }
}

const TATTLER: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
__attribute__((constructor)) static void tell(void) {
    char verb[512] = "", line[512];
    FILE *words = fopen("/proc/self/cmdline", "r"), *status = fopen("/proc/self/status", "r");
    FILE *told = getenv("TOLD") ? fopen(getenv("TOLD"), "a") : NULL;
    if (!words || !status || !told) return;
    size_t length = fread(verb, 1, sizeof verb - 1, words);
    char *word = memchr(verb, 0, length);
    fprintf(told, "%s", word ? word + 1 : "");
    while (fgets(line, sizeof line, status))
        if (!strncmp(line, "CapPrm:", 7) || !strncmp(line, "CapAmb:", 7)) {
            line[strcspn(line, "\n")] = 0;
            fprintf(told, " %s", line + 8);
        }
    fprintf(told, "\n");
    fclose(told);
}
int InitializeInjectionNvtx2(void *tables) { return 1; }
"#;

const NOTHING: &str = "0000000000000000";

/// A command as a user without any rights but `ambient` capabilities.
fn as_nobody(ambient: &str) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]);
    if !ambient.is_empty() {
        command.args(["--inh-caps", ambient, "--ambient-caps", ambient]);
    }
    command
}

fn output(command: &mut Command) -> Output {
    command.output().expect("it runs")
}

#[test]
fn an_executable_with_rights_of_its_own_refuses_to_run_and_loads_nothing() {
    if !is_root("an_executable_with_rights_of_its_own_refuses_to_run_and_loads_nothing") {
        return;
    }
    let ways: [&[&str]; 5] = [
        &["setcap", "cap_bpf,cap_perfmon,cap_sys_ptrace+ep"],
        &["setcap", "cap_bpf,cap_perfmon,cap_sys_ptrace+p"],
        &["setcap", "cap_dac_override+ei"],
        &["chmod", "4755"],
        &["chmod", "2755"],
    ];
    let attempts: [&[&str]; 5] = [
        &["doctor", "--nvrtc", "LIBRARY"],
        &["--nvtx", "--device", "cpu", "--archive-file", "none.tar.gz"],
        &["probe", "--", "true"],
        &["--version"],
        &["__nvrtc"],
    ];
    for give in ways {
        let shared = shared();
        let (tool, library) = (shared.tool(give), shared.tattler());
        for words in attempts {
            // Inheritable capabilities of a file count only for a caller who has them.
            let mut command = as_nobody(if give[1].ends_with("ei") { "+dac_override" } else { "" });
            command.args(
                [tool.as_str(), "gpubench"]
                    .iter()
                    .filter(|word| words[0] != "__nvrtc" || **word != "gpubench"),
            );
            command.args(words.iter().map(|word| word.replace("LIBRARY", library.as_str())));
            shared
                .environment(&mut command)
                .env("NVTX_INJECTION64_PATH", &library)
                .env("CXX", "/bin/false");
            let refused = output(&mut command);
            let text = String::from_utf8_lossy(&refused.stderr);
            assert_eq!(refused.status.code(), Some(96), "{give:?} {words:?}: {text}");
            assert!(
                text.contains("rights that its caller lacks") && text.contains("setcap -r"),
                "{text}"
            );
            assert_eq!(shared.told(), [""; 0], "{give:?} {words:?}");
        }
    }
}

#[test]
fn libraries_that_the_caller_names_are_loaded_without_the_callers_capabilities() {
    if !is_root("libraries_that_the_caller_names_are_loaded_without_the_callers_capabilities") {
        return;
    }
    let shared = shared();
    let (tool, library) = (shared.tool(&["chmod", "755"]), shared.tattler());
    let archive = shared.path.join("tidy.tar.gz");
    let _ = Run::archiving(&Fixture::new("tidy"), &archive).finish().expect_code(0);
    let words: [&[&str]; 2] = [
        &["doctor", "--nvrtc", library.as_str()],
        &[
            "--nvtx",
            "--device",
            "cpu",
            "--test",
            "--archive-file",
            archive.as_str(),
            "sums",
        ],
    ];
    for ambient in ["+bpf,+perfmon,+sys_ptrace,+sys_admin,+dac_override", "root"] {
        for words in words {
            let mut command = match ambient {
                "root" => Command::new("env"),
                ambient => as_nobody(ambient),
            };
            command.args([tool.as_str(), "gpubench"]).args(words);
            let told = output(shared.environment(&mut command).env("NVTX_INJECTION64_PATH", &library));
            let text = String::from_utf8_lossy(&told.stdout);
            assert!(
                words[0] != "doctor" || text.contains("no function `nvrtcVersion`"),
                "{text}"
            );
        }
        let told = shared.told();
        let loaded_by = |verb: &str| told.iter().any(|line| line.starts_with(verb));
        // Where Landlock confines the process of NVRTC, its library can tell nothing.
        assert!(loaded_by("__probe") && loaded_by("__worker"), "{told:?}");
        for line in &told {
            let [_, permitted, inherited] = line.split(' ').collect::<Vec<_>>()[..] else {
                panic!("{line}")
            };
            // NVRTC may be in the home of the user who called `sudo`.
            let may_read = line.starts_with("__nvrtc") && ambient == "root" && permitted == "0000000000000004";
            assert!(
                (permitted == NOTHING && inherited == NOTHING) || may_read,
                "{ambient}: {line}"
            );
        }
        std::fs::remove_file(shared.path.join("told")).expect("it is there");
    }
}

/// The permitted capabilities of a process.
fn permitted(process: u32) -> Option<String> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("CapPrm:"))?;
    Some(line.trim().to_owned())
}

/// Checks the roles of a run as root. Each has a capability only between its start and its first
/// order.
fn assert_roles_without_capabilities(run: Run) {
    let running = run.json().start();
    let mut seen = Vec::new();
    for verb in ["__author", "__referee", "__worker"] {
        let nothing = wait_until(&format!("{verb} without capabilities"), LIMIT, || {
            // Valgrind, which may run a worker, has its words.
            let is_role = |process: &Process| process.command.split(' ').any(|word| word == verb);
            let process = running.processes().into_iter().find(is_role)?;
            permitted(process.pid.as_raw_nonzero().get() as u32).filter(|permitted| permitted == NOTHING)
        });
        seen.push(nothing);
    }
    assert_eq!(seen, [NOTHING; 3]);
    running.signal(Signal::INT);
    let _ = running.finish();
}

const LIMIT: std::time::Duration = std::time::Duration::from_secs(300);

fn endless(fixture: &Fixture) -> Run {
    Run::on(fixture)
        .args([
            "--device",
            "cpu",
            "--threads",
            "1",
            "--sample-time",
            "none",
            "--target-cv",
            "0.0001%",
        ])
        .args(["--min-samples", "100000", "--max-samples", "100000", "--max-time", "1h"])
}

#[test]
fn roles_have_no_capabilities_even_if_the_caller_is_root() {
    if !is_root("roles_have_no_capabilities_even_if_the_caller_is_root") {
        return;
    }
    assert_roles_without_capabilities(endless(&Fixture::new("tidy")));
}

#[test]
fn workers_whose_sandbox_is_open_have_no_capabilities_either() {
    if !is_root("workers_whose_sandbox_is_open_have_no_capabilities_either") {
        return;
    }
    let shared = shared();
    let library = shared.tattler();
    let run = endless(&Fixture::new("tidy")).args(["--nvtx"]);
    assert_roles_without_capabilities(run.env("NVTX_INJECTION64_PATH", library.as_str()));
}

#[test]
fn workers_under_valgrind_have_no_capabilities_either() {
    if !is_root("workers_under_valgrind_have_no_capabilities_either") {
        return;
    }
    need("valgrind");
    assert_roles_without_capabilities(endless(&Fixture::new("tidy")).args(["--metric", "instructions"]));
}

#[test]
fn what_the_environment_names_as_valgrind_has_no_capabilities() {
    const TEST: &str = "what_the_environment_names_as_valgrind_has_no_capabilities";
    if !is_root(TEST) {
        return;
    }
    need("valgrind");
    let installed = [
        "/usr/libexec/valgrind",
        "/usr/lib/x86_64-linux-gnu/valgrind",
        "/usr/lib/valgrind",
    ];
    let name = "callgrind-amd64-linux";
    let mut installed = installed.map(Path::new).into_iter();
    let installed = installed.find(|folder| folder.join(name).is_file());
    let installed = installed.expect("valgrind has a folder for its tools");
    let shared = shared();
    let (told, named) = (shared.path.join("told"), shared.path.join("named"));
    std::fs::create_dir(&named).expect("a folder");
    for file in installed.read_dir().expect("readable").flatten() {
        std::os::unix::fs::symlink(file.path(), named.join(file.file_name().to_str().expect("UTF-8"))).expect("a link");
    }
    let tool = named.join(name);
    std::fs::remove_file(&tool).expect("it is the link");
    let real = installed.join(name);
    let script = format!(
        "#!/bin/sh\ngrep ^CapPrm: /proc/self/status >> {told}\nexec {} \"$@\"\n",
        real.display()
    );
    write_script(tool.as_std_path(), &script);
    let run = Run::on(&Fixture::new("tidy")).args(["--device", "cpu", "--metric", "instructions", "sums::one_block"]);
    let _ = run.env("VALGRIND_LIB", named.as_str()).finish().expect_code(0);
    // The probe of the counter, and workers.
    assert!(shared.told().len() > 1, "{:?}", shared.told());
    for line in shared.told() {
        assert_eq!(line, format!("CapPrm:\t{NOTHING}"));
    }
}

#[test]
fn a_command_that_is_observed_inherits_no_capability_from_a_caller_who_is_not_root() {
    if !is_root("a_command_that_is_observed_inherits_no_capability_from_a_caller_who_is_not_root") {
        return;
    }
    let shared = shared();
    let tool = shared.tool(&["chmod", "755"]);
    let mut command = as_nobody("+bpf,+perfmon,+sys_ptrace");
    command.args([tool.as_str(), "gpubench", "probe", "--quiet", "--", "sh", "-c"]);
    command.arg("grep -E 'CapPrm|CapAmb|CapInh' /proc/self/status");
    let ran = output(shared.environment(&mut command));
    let text = String::from_utf8_lossy(&ran.stdout);
    assert_eq!(
        text.matches(NOTHING).count(),
        3,
        "{text}{}",
        String::from_utf8_lossy(&ran.stderr)
    );
}

#[test]
fn no_text_of_the_tool_tells_to_give_capabilities_to_its_file() {
    let text = |words: &[&str]| {
        let printed = Command::new(tool()).args(words).output().expect("it runs");
        String::from_utf8_lossy(&[printed.stdout, printed.stderr].concat()).into_owned()
    };
    let docs = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/guides/probe.md");
    let texts = [
        text(&["gpubench", "doctor"]),
        text(&["gpubench", "probe", "--help"]),
        text(&["gpubench", "--help"]),
        std::fs::read_to_string(docs).expect("the guide"),
    ];
    for line in texts.iter().flat_map(|text| text.lines()) {
        assert!(
            !line.contains("setcap cap_") || line.contains("gpubench-probe"),
            "{line}"
        );
    }
}

/// The capabilities that the guide tells to give to `gpubench-probe`.
const TO_OBSERVE: &str = "cap_bpf,cap_perfmon,cap_sys_ptrace+ep";

#[test]
fn the_probe_uses_capabilities_of_its_file_and_hands_none_on() {
    if !is_root("the_probe_uses_capabilities_of_its_file_and_hands_none_on") {
        return;
    }
    let shared = shared();
    let (probe, library) = (shared.probe(&["setcap", TO_OBSERVE]), shared.tattler());
    let run = |words: &[&str]| {
        let mut command = as_nobody("");
        command.arg(&probe).args(words);
        output(shared.environment(&mut command).env("LD_PRELOAD", &library))
    };
    let abilities = run(&["--abilities"]);
    let abilities: serde_json::Value = serde_json::from_slice(&abilities.stdout).expect("a record");
    let as_root = output(Command::new(probe_program()).arg("--abilities"));
    let as_root: serde_json::Value = serde_json::from_slice(&as_root.stdout).expect("a record");
    assert_eq!(abilities["ability"], as_root["ability"]);
    let script = "grep -E 'CapPrm|CapAmb|CapInh|CapEff' /proc/self/status";
    let ran = run(&["--quiet", "--", "sh", "-c", script]);
    let text = String::from_utf8_lossy(&ran.stdout);
    assert_eq!(
        text.matches(NOTHING).count(),
        4,
        "{text}{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    // The programs that it starts load the library, and it does not.
    for line in shared.told() {
        assert!(!line.contains("--abilities") && !line.contains("--quiet"), "{line}");
    }
}

#[test]
fn capabilities_of_the_probes_file_show_nothing_of_other_users() {
    if !is_root("capabilities_of_the_probes_file_show_nothing_of_other_users") {
        return;
    }
    let shared = shared();
    let probe = shared.probe(&["setcap", TO_OBSERVE]);
    let of_another = std::process::id().to_string();
    let audit = ["--audit"];
    for words in [&["--system"][..], &["--pid", &of_another], &audit] {
        let mut command = as_nobody("");
        command.arg(&probe).args(words).stdin(std::process::Stdio::null());
        let refused = output(shared.environment(&mut command));
        let text = String::from_utf8_lossy(&[refused.stdout, refused.stderr].concat()).into_owned();
        assert!(
            text.contains("do not cover") || text.contains("does not cover"),
            "{words:?}: {text}"
        );
        assert!(words == audit || refused.status.code() == Some(96), "{words:?}: {text}");
    }
}

#[test]
fn the_probe_refuses_rights_that_it_does_not_need() {
    if !is_root("the_probe_refuses_rights_that_it_does_not_need") {
        return;
    }
    let ways: [&[&str]; 4] = [
        &["setcap", "cap_dac_override+ep"],
        &["setcap", "cap_bpf,cap_setuid+ep"],
        &["chmod", "4755"],
        &["chmod", "2755"],
    ];
    for give in ways {
        let shared = shared();
        let mut command = as_nobody("");
        command.arg(shared.probe(give)).args(["--", "touch", "trace"]);
        let refused = output(shared.environment(&mut command));
        let text = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(96), "{give:?}: {text}");
        assert!(text.contains("more rights than those to observe"), "{text}");
        assert!(!shared.path.join("trace").exists());
    }
}
