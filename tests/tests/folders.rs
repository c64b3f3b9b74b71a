//! Commands that only look at a folder run nothing of it, whatever its files name.
#![forbid(unsafe_code)]

use std::fs;
use std::os::unix::fs::{chown, symlink};
use std::process::{Command, Output};

use camino::{Utf8Path, Utf8PathBuf};
use gpubench_tests::{Fixture, Run, tool, write_script};

/// A checked-out folder of somebody who wants to run something.
struct Hostile {
    _kept: tempfile::TempDir,
    folder: Utf8PathBuf,
    run: Utf8PathBuf,
}

impl Hostile {
    fn new() -> Hostile {
        let kept = tempfile::tempdir().expect("a folder");
        let root = Utf8PathBuf::from_path_buf(kept.path().to_owned()).expect("UTF-8");
        let folder = root.join("checkout");
        fs::create_dir(&folder).expect("a folder");
        let run = root.join("run.json");
        let measured =
            Run::on(&Fixture::new("tidy"))
                .briefly()
                .args(["--device", "cpu", "sums", "--save-baseline", run.as_str()]);
        let _ = measured.finish().expect_code(0);
        let hostile = Hostile {
            _kept: kept,
            folder,
            run,
        };
        hostile.fill();
        hostile
    }

    fn file(&self, name: &str, text: &str) -> Utf8PathBuf {
        let file = self.folder.join(name);
        fs::create_dir_all(file.parent().expect("a parent")).expect("a folder");
        fs::write(&file, text).expect("written");
        file
    }

    /// A program that leaves a trace. Git's filters copy their input.
    fn program(&self, name: &str) -> Utf8PathBuf {
        let trace = self.trace();
        let file = self.folder.join(name);
        fs::create_dir_all(file.parent().expect("a parent")).expect("a folder");
        write_script(
            file.as_std_path(),
            &format!("#!/bin/sh\necho \"$0 $*\" >> {trace}\nexec cat\n"),
        );
        file
    }

    fn trace(&self) -> Utf8PathBuf {
        self.folder.parent().expect("a parent").join("trace")
    }

    fn fill(&self) {
        let evil = self.program("evil");
        for name in ["cargo", "rustc", "rustdoc", "rustup"] {
            self.program(&format!("toolchain/bin/{name}"));
        }
        self.file("rust-toolchain.toml", "[toolchain]\npath = \"toolchain\"\n");
        self.file(
            ".cargo/config.toml",
            &format!(
                "[build]\nrustc = '{evil}'\nrustc-wrapper = '{evil}'\n[alias]\nmetadata = 'run'\nlocate-project = 'run'\n\
                 [registry]\nglobal-credential-providers = ['{evil}']\n[target.x86_64-unknown-linux-gnu]\nlinker = '{evil}'\n"
            ),
        );
        self.file(
            "Cargo.toml",
            "[package]\nname = 'hostile'\nversion = '0.1.0'\nedition = '2021'\nbuild = 'build.rs'\n[workspace]\n",
        );
        self.file("build.rs", "fn main() { panic!() }\n");
        self.file("src/lib.rs", "");
        self.file(
            ".config/gpubench.toml",
            "[profile.default]\nnvcc = './evil'\nnvrtc = './evil'\nnvtx = true\nmetric = 'time,instructions'\n",
        );
        self.file(".gitattributes", "* filter=evil diff=evil\n");
        self.git(&["init", "--quiet"]);
        self.git(&["add", "."]);
        let nobody = ["-c", "user.name=nobody", "-c", "user.email=nobody@localhost"];
        self.git(&[&nobody[..], &["commit", "--quiet", "-m", "first"]].concat());
        for hook in ["post-index-change", "fsmonitor-watchman", "pre-auto-gc"] {
            self.program(&format!(".git/hooks/{hook}"));
        }
        for key in [
            "core.fsmonitor",
            "core.pager",
            "core.editor",
            "core.sshCommand",
            "diff.external",
            "diff.evil.textconv",
            "diff.evil.command",
            "filter.evil.clean",
            "filter.evil.smudge",
            "filter.evil.process",
            "gpg.program",
            "credential.helper",
        ] {
            self.git(&["config", key, evil.as_str()]);
        }
        // Now git compares contents.
        self.file("src/lib.rs", "\n");
    }

    fn git(&self, arguments: &[&str]) {
        let done = Command::new("git")
            .current_dir(&self.folder)
            .args(arguments)
            .output()
            .expect("git");
        assert!(done.status.success(), "{arguments:?}: {done:?}");
    }

    /// Runs the tool there as somebody does who starts it without cargo.
    fn look(&self, words: &[&str]) -> Output {
        self.look_with(words, None)
    }

    /// The same with a variable.
    fn look_with(&self, words: &[&str], variable: Option<(&str, &str)>) -> Output {
        let mut command = Command::new(tool());
        command.envs(variable);
        command.arg("gpubench").args(words).current_dir(&self.folder);
        for name in ["CARGO", "RUSTUP_TOOLCHAIN", "CARGO_TARGET_DIR", "RUSTC", "CXX"] {
            command.env_remove(name);
        }
        command.output().expect("the tool runs")
    }

    #[track_caller]
    fn assert_nothing_ran(&self, words: &[&str]) {
        let trace = fs::read_to_string(self.trace()).unwrap_or_default();
        assert_eq!(trace, "", "{words:?}");
    }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

#[test]
fn commands_that_look_run_nothing_of_the_folder() {
    let hostile = Hostile::new();
    let (run, page) = (hostile.run.as_str(), hostile.folder.join("page.html"));
    let commands: &[(&[&str], i32)] = &[
        (&["--version"], 0),
        (&["--help"], 0),
        (&["doctor", "--device", "cpu"], 0),
        (&["doctor", "--device", "cpu", "--message-format", "json"], 0),
        (&["show-config"], 0),
        (&["show-config", "sums::one"], 0),
        (&["show-config", "--template"], 0),
        (&["history"], 4),
        (&["compare", "--baselines"], 0),
        (&["compare", run, run], 0),
        (&["report", run, "-o", page.as_str()], 0),
        (&["--load-baseline", run], 0),
        (&["--load-baseline", run, "--baseline", run, "--report", "html"], 0),
        (&["--load-baseline", run, "--save-baseline", "copy"], 0),
        (&["completions", "bash"], 0),
        (&["completions", "--cases"], 0),
        (&["man"], 0),
    ];
    for (words, code) in commands {
        let looked = hostile.look(words);
        hostile.assert_nothing_ran(words);
        assert_eq!(looked.status.code(), Some(*code), "{words:?}: {}", text(&looked));
    }
    let copied = ["--load-baseline", run, "--save-baseline", "copy"];
    for variable in [("GIT_CONFIG", "/dev/null"), ("GIT_CONFIG_COUNT", "-1")] {
        let _ = hostile.look_with(&copied, Some(variable));
        hostile.assert_nothing_ran(&[variable.0, variable.1]);
    }
    let doctor = text(&hostile.look(&["doctor", "--device", "cpu"]));
    assert!(doctor.contains("the key `nvcc` has no effect here"), "{doctor}");
}

#[test]
fn links_in_the_target_directory_of_a_folder_lead_nowhere_else() {
    let hostile = Hostile::new();
    let run = hostile.run.as_str();
    let (victim, home) = (hostile.trace(), hostile.folder.join("target/gpubench"));
    for (link, words) in [
        ("report.html", &["report", run][..]),
        ("report.html", &["--load-baseline", run, "--report", "html"]),
        (
            "baselines/main.json",
            &["--load-baseline", run, "--save-baseline", "main"],
        ),
        ("baselines", &["--load-baseline", run, "--save-baseline", "main"]),
    ] {
        let _ = fs::remove_dir_all(&home);
        let link = home.join(link);
        fs::create_dir_all(link.parent().expect("a parent")).expect("a folder");
        symlink(&victim, &link).expect("a link");
        let refused = hostile.look(words);
        assert_eq!(refused.status.code(), Some(2), "{words:?}: {}", text(&refused));
        assert!(text(&refused).contains("a link leads from"), "{}", text(&refused));
        assert!(victim.symlink_metadata().is_err(), "{words:?}");
    }
    // The target directory itself may be elsewhere.
    let _ = fs::remove_dir_all(hostile.folder.join("target"));
    let elsewhere = hostile.folder.with_file_name("elsewhere");
    fs::create_dir(&elsewhere).expect("a folder");
    symlink(&elsewhere, hostile.folder.join("target")).expect("a link");
    let written = hostile.look(&["report", run]);
    assert_eq!(written.status.code(), Some(0), "{}", text(&written));
    assert!(elsewhere.join("gpubench/report.html").exists());
}

#[test]
fn the_configuration_of_another_user_is_not_read() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let hostile = Hostile::new();
    for place in [".config/gpubench.toml", ".config", "."] {
        let place = hostile.folder.join(place);
        chown(&place, Some(65534), None).expect("we are root");
        let looked = text(&hostile.look(&["show-config"]));
        assert!(
            looked.contains("has no effect: `") && looked.contains("belongs to another user"),
            "{looked}"
        );
        assert!(!looked.contains("time,instructions"), "{looked}");
        let asked = text(&hostile.look(&["show-config", "--config-file", ".config/gpubench.toml"]));
        assert!(asked.contains("time,instructions"), "{asked}");
        chown(&place, Some(0), None).expect("we are root");
    }
    let looked = text(&hostile.look(&["show-config"]));
    assert!(looked.contains("time,instructions"), "{looked}");
}

#[test]
fn a_trusted_archive_writes_nothing_where_a_folder_tells_it_to() {
    let kept = tempfile::tempdir().expect("a folder");
    let root = Utf8Path::from_path(kept.path()).expect("UTF-8");
    let (archive, folder, victim) = (root.join("a.tar.gz"), root.join("checkout"), root.join("victim"));
    let _ = Run::archiving(&Fixture::new("tidy"), &archive).finish().expect_code(0);
    fs::create_dir_all(folder.join(".config")).expect("a folder");
    fs::create_dir(&victim).expect("a folder");
    symlink("..", folder.join("up")).expect("a link");
    for setting in [
        "export-json = '../victim/a.json'",
        "export-csv = 'up/victim/a.csv'",
        "export-junit = '../victim/a.xml'",
        "report = 'html=../victim/a.html'",
        "save-baseline = '../victim/a.json'",
        "history-dir = '../victim'\nhistory = true",
    ] {
        fs::write(
            folder.join(".config/gpubench.toml"),
            format!("[profile.default]\n{setting}\n"),
        )
        .expect("written");
        let words = ["--archive-file", archive.as_str(), "--device", "cpu", "sums"];
        let ran = Run::outside_of_workspaces(&folder)
            .briefly()
            .args(words)
            .finish()
            .expect_code(2);
        assert!(ran.stderr.contains("is outside of"), "{}", ran.stderr);
    }
    assert_eq!(fs::read_dir(&victim).expect("it is there").count(), 0);
}

#[test]
fn a_folder_names_no_archive_to_run_and_no_options_of_valgrind() {
    gpubench_diagnostic::testing::need("valgrind");
    let kept = tempfile::tempdir().expect("a folder");
    let root = Utf8Path::from_path(kept.path()).expect("UTF-8");
    let (archive, folder, victim) = (root.join("a.tar.gz"), root.join("checkout"), root.join("victim"));
    let _ = Run::archiving(&Fixture::new("tidy"), &archive).finish().expect_code(0);
    fs::create_dir_all(folder.join(".config")).expect("a folder");
    fs::copy(&archive, folder.join("old.tar.gz")).expect("a copy");
    let text = "[profile.default]\nagainst-archive = 'old.tar.gz'\n";
    fs::write(folder.join(".config/gpubench.toml"), text).expect("written");
    fs::write(folder.join(".valgrindrc"), format!("--log-file={victim}\n")).expect("written");
    fs::write(&victim, "precious").expect("written");
    let words = ["--archive-file", archive.as_str(), "--device", "cpu", "sums::one_block"];
    let ran = Run::outside_of_workspaces(&folder)
        .briefly()
        .args(words)
        .args(["--metric", "instructions"])
        .finish()
        .expect_code(0);
    assert!(
        ran.stderr.contains("the key `against-archive` has no effect"),
        "{}",
        ran.stderr
    );
    assert_eq!(fs::read_to_string(&victim).expect("it is there"), "precious");
}

#[test]
fn a_folder_does_not_open_the_sandbox_of_an_archive() {
    let kept = tempfile::tempdir().expect("a folder");
    let root = Utf8Path::from_path(kept.path()).expect("UTF-8");
    let archive = root.join("a.tar.gz");
    let _ = Run::archiving(&Fixture::new("tidy"), &archive).finish().expect_code(0);
    fs::create_dir_all(root.join(".config")).expect("a folder");
    let text = "[profile.default]\nmetric = 'time,instructions'\n";
    fs::write(root.join(".config/gpubench.toml"), text).expect("written");
    let words = ["--archive-file", archive.as_str(), "--device", "cpu", "sums::one_block"];
    let ran = Run::outside_of_workspaces(root)
        .briefly()
        .json()
        .args(words)
        .finish()
        .expect_code(0);
    assert!(ran.stderr.contains("instructions are not counted"), "{}", ran.stderr);
    for record in ran.records().all() {
        let reason = record["grade_reason"].as_str().unwrap_or_default();
        assert!(
            !reason.contains("valgrind") && record["metric"] != "instructions",
            "{record}"
        );
    }
}
