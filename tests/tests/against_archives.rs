//! `--against-archive`: alternating windows of two archives of a crate without its sources, or of a
//! local build and an archive.
#![forbid(unsafe_code)]

use std::fs;
use std::process::Command;
use std::sync::OnceLock;

use camino::{Utf8Path, Utf8PathBuf};
use gpubench_tests::{BareMachine, Finished, Fixture, Run, repository};
use serde_json::{Value, json};

/// Iterations of the kernel's loop.
const FAST: u32 = 6_400;
/// More than two runs of the same code can differ on a busy machine.
const SLOW: u32 = 250 * FAST;

const LIBRARY: &str = r#"
use gpubench::prelude::*;

cuda_source!(TURNS = "turns.cu");

fn vectors(n: usize) -> Tensors {
    Tensors::new().input("x", u32::shape([n]), Bits).output("y", u32::shape([n]))
}

fn on_cpu(_n: usize, x: &[u32], y: &mut [u32]) {
    y.copy_from_slice(x);
}

#[gpubench(axes(n = [64]), tensors = vectors(n), reference = on_cpu, exact)]
fn BENCHMARK(launcher: &mut Launcher, n: usize, x: In<u32>, y: Out<u32>) -> Result<()> {
    launcher.launch(TURNS.kernel("turns"), Grid::covering(n, 64), (x, y, n))
}
"#;

const KERNEL: &str = r#"
extern "C" __global__ void turns(const unsigned *x, unsigned *y, size_t n) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i >= n) return;
  volatile unsigned round = 0;
  while (round < ROUNDSu / 64) round = round + 1;
  y[i] = x[i];
}
"#;

/// A crate in a repository, and archives of its revisions.
struct Archives {
    _folder: tempfile::TempDir,
    /// The crate, in the state of the last archive.
    sources: Utf8PathBuf,
    fast: Utf8PathBuf,
    /// Same contents as `fast`, from sources without a repository.
    nameless: Utf8PathBuf,
    /// Made with uncommitted changes.
    slow: Utf8PathBuf,
    /// The benchmark has another name.
    renamed: Utf8PathBuf,
    /// Same contents as `fast`, made without a kernel compiler.
    without_kernels: Utf8PathBuf,
    /// The commit of `fast`.
    commit: String,
}

impl Archives {
    fn make() -> Archives {
        let folder = tempfile::tempdir().expect("a folder");
        let root = Utf8Path::from_path(folder.path()).expect("the name is text");
        let root = root.canonicalize_utf8().expect("it is there");
        let sources = root.join("sources");
        fs::create_dir_all(sources.join("src")).expect("a folder");
        let archived = |name: &str, variables: &[(&str, &str)]| {
            let archive = root.join(name);
            let run = Run::archiving(&Fixture::made_in(&sources), &archive);
            let run = variables.iter().fold(run, |run, (name, value)| run.env(name, value));
            let _ = run.finish().expect_code(0);
            archive
        };
        write(&sources, FAST, "turns");
        let nameless = archived("nameless.tar.gz", &[]);
        git(&sources, &["init", "--quiet", "--initial-branch", "main"]);
        git(&sources, &["add", "--all"]);
        git(&sources, &["commit", "--quiet", "--message", "fast"]);
        let fast = archived("fast.tar.gz", &[]);
        let without_kernels = archived("without-kernels.tar.gz", &[("CXX", "/none")]);
        write(&sources, FAST, "renamed");
        let renamed = archived("renamed.tar.gz", &[]);
        write(&sources, SLOW, "turns");
        let slow = archived("slow.tar.gz", &[]);
        Archives {
            commit: git(&sources, &["rev-parse", "HEAD"]).trim().to_owned(),
            _folder: folder,
            sources,
            fast,
            nameless,
            slow,
            renamed,
            without_kernels,
        }
    }
}

fn archives() -> &'static Archives {
    static ARCHIVES: OnceLock<Archives> = OnceLock::new();
    ARCHIVES.get_or_init(Archives::make)
}

fn write(folder: &Utf8Path, rounds: u32, benchmark: &str) {
    let runtime = repository().join("gpubench");
    let manifest = format!(
        "[package]\nname = \"turns\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies]\ngpubench = {{ path = {runtime:?} }}\n"
    );
    let files = [
        ("Cargo.toml", manifest),
        (".gitignore", "Cargo.lock\n".to_owned()),
        ("src/turns.cu", KERNEL.replace("ROUNDS", &rounds.to_string())),
        ("src/lib.rs", LIBRARY.replace("BENCHMARK", benchmark)),
    ];
    for (name, text) in files {
        fs::write(folder.join(name), text).expect("it is written");
    }
}

fn git(folder: &Utf8Path, arguments: &[&str]) -> String {
    let author = ["-c", "user.name=nobody", "-c", "user.email=nobody@localhost"];
    let output = Command::new("git")
        .arg("-C")
        .arg(folder)
        .args(author)
        .args(arguments)
        .output();
    let output = output.expect("git runs");
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

/// Returns a comparison of two archives on a bare machine.
fn compared(machine: &BareMachine, candidate: &Utf8Path, baseline: &Utf8Path) -> Run {
    let run = machine.run(candidate).args(LIMITS);
    run.args(["--against-archive", baseline.as_str()])
}

const LIMITS: [&str; 14] = [
    "--workers",
    "6",
    "--min-samples",
    "60",
    "--max-samples",
    "60",
    "--max-time",
    "1min",
    "--flush-bytes",
    "0",
    "--threads",
    "1",
    "--noise-threshold",
    "60%",
];

fn comparison(finished: &Finished) -> Value {
    finished.records().the("comparison-complete").clone()
}

#[test]
fn a_slower_kernel_in_the_new_archive_is_a_regression_with_exit_code_3() {
    let Archives { fast, slow, commit, .. } = archives();
    let machine = BareMachine::new();
    let finished = compared(&machine, slow, fast).json().finish().expect_code(3);
    let comparison = comparison(&finished);
    assert_eq!(comparison["arrangement"], "interleaved");
    assert_eq!(comparison["differences"], json!([]));
    let row = &comparison["rows"][0];
    assert_eq!(
        (&row["case"], &row["verdict"]),
        (&json!("turns::n=64"), &json!("regressed"))
    );
    assert!(row["change"]["ratio"].as_f64().expect("a number") > 1.6, "{row:#}");
    let side = |name: &str, archive: &Utf8Path, modified: bool| {
        let side = &comparison[name];
        assert_eq!(side["name"], archive.as_str());
        assert_eq!(
            side["revision"],
            json!({ "commit": commit, "branch": "main", "modified": modified })
        );
    };
    side("baseline", fast, false);
    side("candidate", slow, true);
    for message in [
        "Unpacked the baseline `",
        "Unpacked the candidate `",
        " on main, archived 20",
    ] {
        assert!(finished.stderr.contains(message), "{}", finished.stderr);
    }
    assert_eq!(machine.left(), [""; 0]);
}

#[test]
fn a_faster_kernel_in_the_new_archive_is_an_improvement() {
    let Archives { fast, slow, .. } = archives();
    let finished = compared(&BareMachine::new(), fast, slow).json().finish().expect_code(0);
    assert_eq!(comparison(&finished)["rows"][0]["verdict"], "improved");
}

#[test]
fn an_archive_is_no_regression_against_itself_or_one_of_the_same_sources() {
    let Archives { fast, nameless, .. } = archives();
    let machine = BareMachine::new();
    let finished = compared(&machine, fast, fast).json().finish().expect_code(0);
    assert_eq!(comparison(&finished)["rows"][0]["candidate"]["verdict"], "pass");
    let finished = compared(&machine, fast, nameless).finish().expect_code(0);
    assert!(
        finished
            .stderr
            .contains("nameless.tar.gz` (unknown revision, archived 20"),
        "{}",
        finished.stderr
    );
    assert!(finished.stdout.contains("unknown revision"), "{}", finished.stdout);
}

#[test]
fn a_local_build_is_compared_with_an_archive_and_compiled_with_its_options() {
    let Archives { sources, fast, .. } = archives();
    let run = Run::on(&Fixture::made_in(sources)).json().args(LIMITS);
    let run = run.env("GPUBENCH_AGAINST_ARCHIVE", fast.as_str());
    let comparison = comparison(&run.finish().expect_code(3));
    assert_eq!(comparison["baseline"]["name"], fast.as_str());
    assert_eq!(comparison["candidate"]["name"], "this run");
    assert_eq!(comparison["rows"][0]["verdict"], "regressed");
    assert_eq!(comparison["differences"], json!([]));
}

#[test]
fn kernels_missing_from_an_archive_are_compiled_for_the_comparison() {
    let Archives {
        slow, without_kernels, ..
    } = archives();
    let machine = BareMachine::with_a_cpp_compiler();
    let finished = compared(&machine, slow, without_kernels).json().finish().expect_code(3);
    assert_eq!(comparison(&finished)["rows"][0]["verdict"], "regressed");
    let finished = compared(&BareMachine::new(), slow, without_kernels)
        .finish()
        .expect_code(96);
    let baseline = format!("error: cannot measure the baseline `{without_kernels}`");
    assert!(finished.stderr.contains(&baseline), "{}", finished.stderr);
    let finished = compared(&BareMachine::new(), without_kernels, slow)
        .finish()
        .expect_code(96);
    assert!(
        !finished.stderr.contains("cannot measure the baseline"),
        "{}",
        finished.stderr
    );
}

#[test]
fn archives_without_a_common_benchmark_are_not_compared_and_a_message_says_so() {
    let Archives { fast, renamed, .. } = archives();
    let finished = compared(&BareMachine::new(), renamed, fast)
        .json()
        .finish()
        .expect_code(0);
    let comparison = comparison(&finished);
    assert_eq!(
        (&comparison["new"], &comparison["removed"]),
        (&json!(["renamed::n=64 [warm]"]), &json!(["turns::n=64 [warm]"]))
    );
    let warning = format!("warning: the baseline `{fast}` has none of the selected cases; nothing is compared");
    assert!(finished.stderr.contains(&warning), "{}", finished.stderr);
}

/// Writes a copy of an archive with a changed manifest.
fn forged(archive: &Utf8Path, to: &Utf8Path, forge: impl Fn(&mut Value)) {
    let folder = tempfile::tempdir().expect("a folder");
    let inside = folder.path().to_str().expect("text");
    let names = tar(&["-tzf", archive.as_str()]);
    tar(&["-xzf", archive.as_str(), "-C", inside]);
    let manifest = folder.path().join("manifest.json");
    let text = fs::read_to_string(&manifest).expect("a manifest");
    let mut value: Value = serde_json::from_str(&text).expect("JSON");
    forge(&mut value);
    fs::write(&manifest, value.to_string()).expect("it is written");
    let pack = ["-czf", to.as_str(), "-C", inside];
    tar(&pack.into_iter().chain(names.lines()).collect::<Vec<_>>());
}

fn tar(arguments: &[&str]) -> String {
    let output = Command::new("tar").args(arguments).output().expect("tar runs");
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn an_unusable_baseline_archive_is_an_error_before_anything_is_measured() {
    let Archives { fast, .. } = archives();
    let machine = BareMachine::new();
    let bytes = fs::read(fast).expect("an archive");
    let path = |name: &str| machine.programs.join(name);
    fs::write(path("text"), "hello").expect("written");
    fs::write(path("half"), &bytes[..bytes.len() / 2]).expect("written");
    forged(fast, &path("newer"), |manifest| manifest["format"] = json!(99));
    forged(fast, &path("foreign"), |manifest| {
        manifest["target"] = json!("riscv64gc-unknown-linux-gnu");
    });
    forged(fast, &path("large"), |manifest| {
        manifest["libraries"][0]["file"]["size"] = json!(u64::MAX / 2);
    });
    for (name, words) in [
        ("missing", "could not open the archive"),
        ("text", "is not an archive of `cargo gpubench`"),
        ("half", "is damaged: it is truncated"),
        ("newer", "cannot read its format"),
        ("foreign", "is for riscv64gc-unknown-linux-gnu"),
        ("large", " unpacks to "),
    ] {
        let archive = path(name);
        let refused = compared(&machine, fast, &archive).finish().expect_code(103);
        assert_eq!(refused.stdout, "", "{name}");
        let first = format!("error: cannot measure the baseline `{archive}`\n");
        assert!(refused.stderr.starts_with(&first), "{name}: {}", refused.stderr);
        assert!(refused.stderr.contains(words), "{name}: {}", refused.stderr);
        assert!(refused.stderr.contains("(hint: "), "{name}: {}", refused.stderr);
    }
    let refused = compared(&machine, &path("half"), fast).finish().expect_code(103);
    let candidate = format!("error: the archive `{}` is damaged", path("half"));
    assert!(refused.stderr.contains(&candidate), "{}", refused.stderr);
    assert_eq!(machine.left(), [""; 0]);
}

#[test]
fn an_archive_with_kernels_for_other_devices_only_is_an_error_that_names_it() {
    let Archives { fast, .. } = archives();
    let machine = BareMachine::new();
    let elsewhere = machine.programs.join("elsewhere.tar.gz");
    forged(fast, &elsewhere, |manifest| {
        manifest["kernels"][0]["target"] = json!("sm_80")
    });
    let message = format!("the kernels in the archive `{elsewhere}` are compiled for sm_80");
    let refused = compared(&machine, fast, &elsewhere).finish().expect_code(103);
    let baseline = format!("error: cannot measure the baseline `{elsewhere}`\ncaused by: {message}");
    assert!(refused.stderr.contains(&baseline), "{}", refused.stderr);
    let refused = compared(&machine, &elsewhere, fast).finish().expect_code(103);
    assert!(
        refused.stderr.contains(&format!("error: {message}")),
        "{}",
        refused.stderr
    );
}

#[test]
fn an_archive_without_a_revision_is_compared_and_its_text_is_printed_safely() {
    let Archives { fast, .. } = archives();
    let machine = BareMachine::new();
    let older = machine.programs.join("older.tar.gz");
    forged(fast, &older, |manifest| {
        manifest.as_object_mut().expect("an object").remove("revision");
        manifest["created_at"] = json!("\u{1b}[2Jyesterday");
    });
    let finished = compared(&machine, fast, &older).json().finish().expect_code(0);
    assert_eq!(comparison(&finished)["baseline"]["revision"], Value::Null);
    assert!(
        finished.stderr.contains("(unknown revision, archived yesterday)"),
        "{}",
        finished.stderr
    );
}

#[test]
fn kernels_from_another_compiler_are_compared_and_the_difference_is_recorded() {
    let Archives { fast, .. } = archives();
    let machine = BareMachine::new();
    let other = machine.programs.join("other.tar.gz");
    forged(fast, &other, |manifest| {
        manifest["kernels"][0]["compiler"] = json!("g++ 1.0")
    });
    let comparison = comparison(&compared(&machine, fast, &other).json().finish().expect_code(0));
    let difference = comparison["differences"][0].as_str().unwrap_or_default();
    assert!(
        difference.starts_with("compiler: ahead: g++ 1.0 for "),
        "{comparison:#}"
    );
    assert!(comparison["rows"][0]["change"]["ratio"].is_number(), "{comparison:#}");
}

#[test]
fn a_revision_is_refused_without_sources() {
    let Archives { fast, .. } = archives();
    let machine = BareMachine::new();
    let run = || machine.run(fast);
    let _ = run().args(["--against", "main"]).finish().expect_code(2);
    let work = &machine.work;
    let by_environment = Run::outside_of_workspaces(work)
        .env("GPUBENCH_ARCHIVE_FILE", fast.as_str())
        .env("GPUBENCH_AGAINST", "main");
    let refused = by_environment.finish().expect_code(2);
    let message = format!("error: `--against main` needs sources, but `{fast}` is an archive\n");
    assert!(refused.stderr.contains(&message), "{}", refused.stderr);
    assert!(
        refused.stderr.contains("(hint: use `--against-archive FILE`"),
        "{}",
        refused.stderr
    );
}
