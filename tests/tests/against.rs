//! `--against`: alternating windows of two revisions of a crate.
#![forbid(unsafe_code)]

use std::io::Write as _;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use camino::{Utf8Path, Utf8PathBuf};
use gpubench_tests::{Ending, Finished, Fixture, GitRepository, Npy, Role, Run, repository};
use rustix::process::Signal;
use serde_json::Value;

/// A repository with a crate in a subfolder. Its revisions differ in the kernel's work and in the
/// tensors.
struct Repository {
    sources: GitRepository,
    /// The path from the crate to the runtime's folder.
    runtime: Utf8PathBuf,
}

/// The contents of a revision.
#[derive(Clone, Copy)]
struct State {
    /// Iterations of the kernel's loop.
    rounds: u32,
    /// The declaration of the last benchmark.
    more: &'static str,
    /// The number of elements of `reshaped`.
    elements: u32,
}

const FAST: State = State {
    rounds: 6_400,
    more: "fn old",
    elements: 64,
};

const SLOW: State = State {
    rounds: 1_600_000,
    more: "fn young",
    elements: 65,
};

impl Repository {
    /// Creates a repository without commits.
    fn empty() -> Repository {
        Repository {
            sources: GitRepository::in_new_folder(),
            runtime: repository().join("gpubench"),
        }
    }

    fn new() -> Repository {
        let repository = Repository::empty();
        repository.write(FAST);
        repository.git(&["init", "--quiet", "--initial-branch", "main"]);
        repository.commit("fast");
        repository.git(&["tag", "fast"]);
        repository.write(SLOW);
        repository.commit("slow");
        repository
    }

    fn crate_folder(&self) -> Utf8PathBuf {
        self.root().join("kernels/spin")
    }

    fn write(&self, state: State) {
        let State { rounds, more, elements } = state;
        let folder = self.crate_folder();
        std::fs::create_dir_all(folder.join("src")).expect("a folder");
        let runtime = &self.runtime;
        let write = |name: &str, text: String| std::fs::write(folder.join(name), text).expect("it is written");
        write(
            "Cargo.toml",
            format!(
                "[package]\nname = \"spin\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
                 [dependencies]\ngpubench = {{ path = {runtime:?} }}\n"
            ),
        );
        write(".gitignore", "Cargo.lock\n".to_owned());
        write("src/spin.cu", KERNEL.replace("ROUNDS", &rounds.to_string()));
        write(
            "src/lib.rs",
            LIBRARY
                .replace("ELEMENTS", &elements.to_string())
                .replace("fn MORE", more),
        );
    }

    fn commit(&self, message: &str) {
        let _ = self.sources.commit(message);
    }

    fn git(&self, arguments: &[&str]) -> String {
        self.sources.git(arguments)
    }

    fn root(&self) -> &Utf8Path {
        self.sources.root()
    }

    /// Returns a run in the crate's folder.
    fn run(&self, revision: &str) -> Run {
        let limits = [
            "--min-samples",
            "30",
            "--max-samples",
            "30",
            "--max-time",
            "1min",
            "--workers",
            "6",
        ];
        // On a busy machine two runs of the same code may differ by a lot. The slow revision takes
        // about 200 times as long.
        self.against(revision).args(limits).args(["--noise-threshold", "60%"])
    }

    fn against(&self, revision: &str) -> Run {
        let run = Run::on(&Fixture::made_in(&self.crate_folder())).json().patiently();
        run.args(["--against", revision, "--flush-bytes", "0", "--threads", "1"])
    }

    fn worktrees(&self) -> Vec<String> {
        let list = self.git(&["worktree", "list", "--porcelain"]);
        let lines = list.lines().filter_map(|line| line.strip_prefix("worktree "));
        lines.filter(|path| *path != self.root()).map(str::to_owned).collect()
    }
}

const LIBRARY: &str = r#"
use gpubench::prelude::*;

cuda_source!(SPIN = "spin.cu");

fn vectors(n: usize) -> Tensors {
    Tensors::new().input("x", u32::shape([n]), Bits).output("y", u32::shape([n]))
}

fn on_cpu(_n: usize, x: &[u32], y: &mut [u32]) {
    y.copy_from_slice(x);
}

/// The kernel uses scratch memory. The revisions need different amounts of it.
#[gpubench(axes(n = [64]), tensors = vectors(n), reference = on_cpu, exact)]
fn spin(launcher: &mut Launcher, n: usize, x: In<u32>, y: Out<u32>) -> Result<()> {
    let scratch = launcher.scratch::<u32>(ELEMENTS)?;
    launcher.launch(SPIN.kernel("spin"), Grid::covering(n, 64), (x, y, scratch, n))
}

#[gpubench(axes(n = [64]), tensors = vectors(ELEMENTS), reference = on_cpu, exact)]
fn reshaped(launcher: &mut Launcher, n: usize, x: In<u32>, y: Out<u32>) -> Result<()> {
    let _ = n;
    launcher.launch(SPIN.kernel("copy"), Grid::covering(ELEMENTS, 64), (x, y, ELEMENTS_usize))
}

#[gpubench(axes(n = [64]), tensors = vectors(n), reference = on_cpu, exact)]
fn MORE(launcher: &mut Launcher, n: usize, x: In<u32>, y: Out<u32>) -> Result<()> {
    launcher.launch(SPIN.kernel("copy"), Grid::covering(n, 64), (x, y, n))
}
"#;

const KERNEL: &str = r#"
extern "C" __global__ void spin(const unsigned *x, unsigned *y, unsigned *scratch, size_t n) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i >= n) return;
  volatile unsigned round = 0;
  while (round < ROUNDSu / 64) round = round + 1;
  scratch[i] = x[i];
  y[i] = scratch[i];
}

extern "C" __global__ void copy(const unsigned *x, unsigned *y, size_t n) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}
"#;

/// Returns the one repository that all tests share, one test at a time. Sharing it saves builds of
/// its revisions.
fn shared_repository() -> MutexGuard<'static, Repository> {
    static REPOSITORY: OnceLock<Mutex<Repository>> = OnceLock::new();
    let repository = REPOSITORY.get_or_init(|| Mutex::new(Repository::new()));
    repository.lock().unwrap_or_else(PoisonError::into_inner)
}

fn comparison(finished: &Finished) -> Value {
    finished.records().the("comparison-complete").clone()
}

fn row<'a>(comparison: &'a Value, benchmark: &str) -> &'a Value {
    let rows = comparison["rows"].as_array().expect("a list");
    let found = rows.iter().find(|row| row["benchmark"] == benchmark);
    found.unwrap_or_else(|| panic!("no row of `{benchmark}` in {comparison:#}"))
}

#[test]
fn the_records_of_a_run_name_the_revision_of_its_sources() {
    let repository = shared_repository();
    let run = Run::on(&Fixture::made_in(&repository.crate_folder())).json();
    let records = run.args(["--test", "spin"]).finish().expect_code(0).records();
    let revision = &records.the("run-started")["revision"];
    let hash = repository.git(&["rev-parse", "HEAD"]);
    assert_eq!(
        (&revision["commit"], &revision["branch"]),
        (&hash.trim().into(), &"main".into())
    );
}

#[test]
fn a_slower_revision_is_a_regression_with_exit_code_3() {
    let repository = shared_repository();
    let finished = repository.run("fast").finish().expect_code(3);
    let comparison = comparison(&finished);
    assert_eq!(comparison["arrangement"], "interleaved");
    let hash = repository.git(&["rev-parse", "fast"]);
    let baseline = &comparison["baseline"];
    assert_eq!(
        (&baseline["name"], &baseline["revision"]["commit"]),
        (&"fast".into(), &hash.trim().into())
    );
    let spin = row(&comparison, "spin");
    assert_eq!(spin["verdict"], "regressed", "{spin:#}");
    let ratio = spin["change"]["ratio"].as_f64().expect("a number");
    assert!(ratio > 1.6, "{spin:#}");
    for side in ["baseline", "candidate"] {
        assert_eq!(
            (&spin[side]["n"], &spin[side]["workers"]),
            (&30.into(), &6.into()),
            "{spin:#}"
        );
    }
    let reshaped = row(&comparison, "reshaped");
    assert_eq!(reshaped["verdict"], "not-compared");
    let remark = reshaped["remark"].as_str().unwrap_or_default();
    assert!(
        remark.contains("`x` has a different type or shape in the baseline"),
        "{remark}"
    );
    assert_eq!(comparison["new"], serde_json::json!(["young::n=64 [warm]"]));
    assert_eq!(comparison["removed"], serde_json::json!(["old::n=64 [warm]"]));
    let records = finished.records();
    assert!(records.results().all(|result| result["verdict"] == "pass"));
    assert_eq!(
        records.results().count(),
        3,
        "the results of the baseline are not among those of the run"
    );
}

#[test]
fn by_default_rounds_continue_until_a_decision_or_the_last_interim_analysis() {
    let repository = shared_repository();
    let take = |revision, benchmark, rules: [&str; 4]| {
        let run = repository.against(revision).args(["--max-samples", "30", benchmark]);
        let comparison = comparison(&run.args(rules).finish());
        let row = row(&comparison, benchmark);
        [&row["baseline"]["workers"], &row["candidate"]["workers"]].map(Value::clone)
    };
    // Such a slowdown is found before the last interim analysis, however busy the machine is.
    let large = ["--noise-threshold", "60%", "--confidence-level", "99%"];
    let taken = take("fast", "spin", large);
    assert!(taken == [5, 5] || taken == [10, 10], "{taken:?}");
    // No comparison ever reaches this precision.
    let exact = ["--noise-threshold", "0.01%", "--confidence-level", "99.999999%"];
    assert_eq!(take("HEAD", "young", exact), [20, 20]);
}

#[test]
fn the_same_revision_is_no_regression_and_its_worktree_is_reused() {
    let repository = shared_repository();
    let once = repository.run("HEAD").args(["spin"]).finish().expect_code(0);
    assert_eq!(comparison(&once)["new"], serde_json::json!([]));
    let worktrees = repository.worktrees();
    let again = repository.run("main").args(["spin"]).finish().expect_code(0);
    assert_ne!(row(&comparison(&again), "spin")["verdict"], "regressed");
    assert_eq!(repository.worktrees(), worktrees);
    assert!(
        again.stderr.contains("Building the baseline `main`"),
        "{}",
        again.stderr
    );
}

#[test]
fn both_revisions_share_a_path_dependency_outside_the_repository() {
    let _turn = shared_repository();
    let mut own = Repository::empty();
    let up: Utf8PathBuf = own.crate_folder().components().skip(1).map(|_| "..").collect();
    let runtime = own.runtime.strip_prefix("/").expect("absolute").to_owned();
    own.runtime = up.join(runtime);
    own.write(FAST);
    // All crates of the tests are built in one target directory, so cargo would confuse libraries
    // of the same name.
    let manifest = own.crate_folder().join("Cargo.toml");
    let text = std::fs::read_to_string(&manifest).expect("text");
    std::fs::write(&manifest, text.replace("\"spin\"", "\"outside\"")).expect("it is written");
    own.git(&["init", "--quiet"]);
    own.commit("fast");
    let finished = own.run("HEAD").args(["spin"]).finish().expect_code(0);
    assert_eq!(row(&comparison(&finished), "spin")["baseline"]["n"], 30);
}

#[test]
fn an_unwritable_target_directory_has_exit_code_110() {
    let repository = shared_repository();
    let target = tempfile::tempdir().expect("a folder");
    std::fs::write(target.path().join("gpubench"), "no folder").expect("it is written");
    let run = repository
        .run("HEAD")
        .env("CARGO_TARGET_DIR", &target.path().to_string_lossy());
    let finished = run.finish().expect_code(110);
    assert!(finished.stderr.contains("error: cannot use `"), "{}", finished.stderr);
    assert!(
        finished
            .stderr
            .contains("(hint: name a writable folder with `--target-dir`"),
        "{}",
        finished.stderr
    );
}

#[test]
fn uncommitted_changes_are_measured_and_reported() {
    let repository = shared_repository();
    repository.write(FAST);
    let finished = repository.run("HEAD").args(["spin"]).finish();
    repository.git(&["checkout", "--quiet", "."]);
    let finished = finished.expect_code(0);
    assert!(
        finished.stderr.contains("the candidate includes uncommitted changes"),
        "{}",
        finished.stderr
    );
    let comparison = comparison(&finished);
    assert_eq!(comparison["candidate"]["revision"]["modified"], true);
    assert_eq!(row(&comparison, "spin")["verdict"], "improved");
}

#[test]
fn an_unknown_revision_is_an_error_with_a_hint() {
    let repository = shared_repository();
    let finished = repository.run("nonsense").finish().expect_code(2);
    assert!(
        finished
            .stderr
            .contains("error: `nonsense` is not a revision of the repository"),
        "{}",
        finished.stderr
    );
    assert!(
        finished.stderr.contains("(hint: name a branch, a tag, a hash"),
        "{}",
        finished.stderr
    );
}

#[test]
fn sources_outside_a_repository_are_an_error_with_a_hint() {
    let repository = Repository::empty();
    repository.write(FAST);
    let finished = repository.run("HEAD").finish().expect_code(2);
    assert!(
        finished.stderr.contains("is not in a usable git repository"),
        "{}",
        finished.stderr
    );
    assert!(
        finished
            .stderr
            .contains("compare with a saved run with `--baseline NAME`"),
        "{}",
        finished.stderr
    );
}

#[test]
fn other_worktrees_and_the_targets_of_links_are_left_alone() {
    let repository = shared_repository();
    let _ = repository.run("HEAD").args(["young"]).finish().expect_code(0);
    let sources = repository.worktrees().pop().expect("the baseline's");
    let disk = tempfile::tempdir().expect("a folder");
    let (there, gone) = (disk.path().join("there"), disk.path().join("gone"));
    let named = there.to_str().expect("text");
    repository.git(&["worktree", "add", "--quiet", "--detach", named]);
    std::fs::rename(&there, &gone).expect("a disk goes");
    std::fs::remove_dir_all(&sources).expect("removed");
    std::os::unix::fs::symlink(repository.root(), &sources).expect("a link");
    let own = repository.root().join("not-committed.txt");
    std::fs::write(&own, "work").expect("written");

    let _ = repository.run("HEAD").args(["young"]).finish().expect_code(0);
    assert_eq!(std::fs::read_to_string(&own).expect("still there"), "work");
    assert_eq!(repository.git(&["symbolic-ref", "--short", "HEAD"]).trim(), "main");
    assert!(std::fs::symlink_metadata(&sources).is_ok_and(|found| found.is_dir()));
    std::fs::rename(&gone, &there).expect("a disk comes back");
    repository.git(&["-C", named, "status"]);

    repository.git(&["worktree", "remove", "--force", named]);
    std::fs::remove_file(&own).expect("removed");
}

#[test]
fn an_interrupt_leaves_no_process_and_only_a_reusable_worktree() {
    let repository = shared_repository();
    let running = repository.run("fast").args(["--timeout", "10min"]).start();
    running.wait_for_role(Role::Worker);
    running.signal(Signal::INT);
    let _ = running.finish().expect_code(130);
    let left = repository.worktrees();
    assert_eq!(left.len(), 1, "{left:?}");
    let _ = repository.run("fast").args(["young"]).finish().expect_code(0);
    assert_eq!(repository.worktrees(), left);
}

#[test]
fn a_build_error_of_the_baseline_names_the_baseline() {
    let repository = shared_repository();
    let folder = repository.crate_folder();
    repository.git(&["checkout", "--quiet", "-b", "broken"]);
    std::fs::write(folder.join("src/lib.rs"), "fn broken() -> u32 {}\n").expect("it is written");
    repository.commit("broken");
    repository.git(&["checkout", "--quiet", "main"]);
    let finished = repository.run("broken").finish().expect_code(101);
    assert!(
        finished.stderr.contains("error: cannot measure the baseline `broken`"),
        "{}",
        finished.stderr
    );
    assert!(
        finished.stderr.contains("could not build package `spin`"),
        "{}",
        finished.stderr
    );
}

#[test]
fn a_baseline_without_benchmarks_is_a_warning_and_all_cases_are_new() {
    let repository = shared_repository();
    let folder = repository.crate_folder();
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).expect("text");
    let runtime = "[dependencies]\n";
    let optional = manifest.replace("gpubench\" }", "gpubench\", optional = true }");
    let with_feature = format!("{optional}\n[features]\nbench = [\"dep:gpubench\"]\n");
    let plain = manifest.split(runtime).next().expect("a part").to_owned();
    let library = std::fs::read_to_string(folder.join("src/lib.rs")).expect("text");
    let commit = |branch: &str, manifest: &str, library: &str| {
        repository.git(&["checkout", "--quiet", "-B", branch, "main"]);
        std::fs::write(folder.join("Cargo.toml"), manifest).expect("written");
        std::fs::write(folder.join("src/lib.rs"), library).expect("written");
        repository.commit(branch);
    };
    commit("without-the-runtime", &plain, "");
    repository.git(&["checkout", "--quiet", "-B", "elsewhere", "main"]);
    repository.git(&["mv", "kernels", "moved"]);
    repository.commit("elsewhere");
    commit("with-a-feature", &with_feature, &library);
    let take = |revision: &str, more: &[&str]| {
        let finished = repository
            .against(revision)
            .args(["young", "--min-samples", "2", "--max-samples", "2", "--workers", "1"])
            .args(more.iter().copied())
            .finish()
            .expect_code(0);
        assert_eq!(
            comparison(&finished)["new"],
            serde_json::json!(["young::n=64 [warm]"]),
            "{revision}"
        );
        let mut warnings = finished
            .stderr
            .lines()
            .filter(|line| line.starts_with("warning: the baseline"));
        let warning = warnings.next().unwrap_or_default().to_owned();
        assert_eq!(warnings.next(), None);
        warning
    };
    let behind_a_feature = take("without-the-runtime", &["--features", "bench"]);
    repository.git(&["checkout", "--quiet", "--force", "main"]);
    let texts = [
        behind_a_feature,
        take("without-the-runtime", &[]),
        take("elsewhere", &[]),
    ];
    insta::assert_snapshot!(texts.join("\n"), @r"
    warning: the baseline `without-the-runtime` has no benchmarks, since no selected package has a requested feature; nothing is compared
    warning: the baseline `without-the-runtime` has no benchmarks, since package `spin` does not depend on `gpubench`; nothing is compared
    warning: the baseline `elsewhere` has no benchmarks, since `elsewhere` has no `kernels/spin/Cargo.toml`; nothing is compared
    ");
}

#[test]
fn a_failing_baseline_is_not_compared_and_is_no_success() {
    let repository = shared_repository();
    let kernels = repository.crate_folder().join("src/spin.cu");
    repository.git(&["checkout", "--quiet", "-b", "wrong"]);
    let kernel = std::fs::read_to_string(&kernels).expect("text");
    std::fs::write(&kernels, kernel.replace("y[i] = scratch[i];", "y[i] = scratch[i] + 1;")).expect("it is written");
    repository.commit("wrong");
    repository.git(&["checkout", "--quiet", "main"]);
    let finished = repository.run("wrong").args(["spin"]).finish().expect_code(100);
    let error = "error: a regression of `spin::n=64` could have gone unnoticed, since a side failed";
    assert!(finished.stderr.contains(error), "{}", finished.stderr);
    let comparison = comparison(&finished);
    let spin = row(&comparison, "spin");
    let remark = "the baseline ended in `wrong-output` when checked against the candidate's reference";
    assert_eq!(
        (&spin["verdict"], &spin["remark"]),
        (&"not-compared".into(), &remark.into())
    );
    let result = finished.records().result("spin").clone();
    assert_eq!(
        (&result["verdict"], &result["stats"]["n"]),
        (&"pass".into(), &30.into())
    );
    let shown = repository.run("wrong").args(["spin", "--no-fail-on-regression"]);
    let _ = shown.finish().expect_code(0);
}

/// The revision `adds` adds 1, and the work tree 2 to what it is given.
#[test]
fn wrong_calls_of_both_sides_are_kept_and_told_apart() {
    let repository = shared_repository();
    let kernels = repository.crate_folder().join("src/spin.cu");
    let kernel = std::fs::read_to_string(&kernels).expect("text");
    let adding = |number| {
        let more = kernel.replace("y[i] = scratch[i];", &format!("y[i] = scratch[i] + {number};"));
        std::fs::write(&kernels, more).expect("it is written");
    };
    repository.git(&["checkout", "--quiet", "-b", "adds"]);
    adding(1);
    repository.commit("adds");
    repository.git(&["checkout", "--quiet", "main"]);
    adding(2);
    let kept = tempfile::tempdir().expect("a folder");
    let folder = Utf8Path::from_path(kept.path()).expect("text");
    let run = repository
        .run("adds")
        .args(["--exact", "spin::n=64", "--keep-wrong-outputs", folder.as_str()]);
    let finished = run.finish().expect_code(100);
    repository.git(&["checkout", "--quiet", "--", "."]);

    let names =
        |side: &str| ["y.expected", "y.got", "x.input"].map(|kind| format!("{side}0.spin.spin.n=64.{kind}.npy"));
    let mut written: Vec<String> = folder
        .read_dir_utf8()
        .expect("a folder")
        .map(|entry| entry.unwrap().file_name().to_owned())
        .collect();
    written.sort();
    let mut all = [names(""), names("baseline.")].concat();
    all.sort();
    assert_eq!(written, all);
    let read = |name: &String| Npy::read(folder.join(name)).elements("<u4", u32::from_le_bytes);
    for (side, added) in [("", 2), ("baseline.", 1)] {
        let [expected, got, x] = names(side).each_ref().map(read);
        assert_eq!(expected, x, "`{side}`");
        let sums: Vec<u32> = x.iter().map(|x| x.wrapping_add(added)).collect();
        assert_eq!(got, sums, "`{side}`");
    }
    let result = finished.records().result("spin").clone();
    let message = result["message"].as_str().expect("a message");
    assert!(names("").iter().all(|name| message.contains(name)), "{message}");
    let notices = result["notices"].to_string();
    let listed = names("baseline.")
        .map(|name| folder.join(name).into_string())
        .join(", ");
    let title = "the baseline's outputs are wrong: the tensors of call ";
    assert!(notices.contains(title) && notices.contains(&listed), "{notices}");
}

/// A kernel that is wrong in the first process which takes a digit from a named pipe.
const WRONG_AT_FIRST: &str = r#"
extern "C" int open(const char *path, int flags, ...);
extern "C" long read(int file, void *bytes, unsigned long number);
extern "C" char *getenv(const char *name);

static unsigned is_first_process() {
  char digit = 0;
  return read(open(getenv("NUMBERS"), 0), &digit, 1) == 1 && digit == '1';
}

extern "C" __global__ void spin(const unsigned *x, unsigned *y, unsigned *scratch, size_t n) {
  static const unsigned wrong = is_first_process();
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + wrong;
}
"#;

#[test]
fn tensors_of_a_baseline_that_passes_alone_are_kept_and_named() {
    let repository = shared_repository();
    let kernels = repository.crate_folder().join("src/spin.cu");
    let kernel = std::fs::read_to_string(&kernels).expect("text");
    let (_, copy) = kernel
        .split_once("extern \"C\" __global__ void copy")
        .expect("a kernel");
    repository.git(&["checkout", "--quiet", "-b", "wrong-at-first"]);
    let wrong = format!("{WRONG_AT_FIRST}\nextern \"C\" __global__ void copy{copy}");
    std::fs::write(&kernels, wrong).expect("it is written");
    repository.commit("wrong-at-first");
    repository.git(&["checkout", "--quiet", "main"]);
    let folder = tempfile::tempdir().expect("a folder");
    let folder = Utf8Path::from_path(folder.path()).expect("text");
    let [kept, numbers] = ["kept", "numbers"].map(|name| folder.join(name));
    std::fs::create_dir(&kept).expect("a folder");
    assert!(
        Command::new("mkfifo")
            .arg(&numbers)
            .status()
            .expect("it runs")
            .success()
    );
    let both_ends = std::fs::OpenOptions::new().read(true).write(true).open(&numbers);
    let mut pipe = both_ends.expect("a named pipe");
    pipe.write_all(b"1").expect("it has room");
    pipe.write_all(&[b'2'; 50]).expect("it has room");
    let run = repository.run("wrong-at-first").env("NUMBERS", numbers.as_str());
    let run = run.args(["--exact", "spin::n=64", "--keep-wrong-outputs", kept.as_str()]);
    let finished = run.finish().expect_code(100);
    let file = kept.join("baseline.0.spin.spin.n=64.y.got.npy");
    assert!(file.exists());
    let notices = finished.records().result("spin")["notices"].to_string();
    let title = "the baseline's outputs were wrong when it alternated: the tensors of call ";
    assert!(notices.contains(title) && notices.contains(file.as_str()), "{notices}");
}

/// A slower kernel whose thread writes an element of the output again and again between its calls.
const SPOILING_KERNEL: &str = r#"
extern "C" int pthread_create(unsigned long *thread, const void *attributes, void *(*run)(void *), void *argument);

static volatile unsigned *output;
static volatile unsigned *last_element;
static unsigned answer, calls, seen_calls;
static unsigned long thread;

static unsigned number_of_calls() { return __atomic_load_n(&calls, __ATOMIC_SEQ_CST); }

static void *spoil_between_calls(void *) {
  for (;;) {
    const unsigned call = number_of_calls();
    __atomic_store_n(&seen_calls, call, __ATOMIC_SEQ_CST);
    while (*last_element != answer && number_of_calls() == call) {
    }
    while (*last_element == answer && number_of_calls() == call) {
    }
    while (number_of_calls() == call) *output = *output ^ 0x5a5a5a5au;
  }
}

extern "C" __global__ void spin(const unsigned *x, unsigned *y, unsigned *scratch, size_t n) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (i == 0) {
    output = y;
    last_element = y + n - 1;
    answer = x[n - 1];
    const unsigned call = __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);
    if (thread == 0) pthread_create(&thread, nullptr, spoil_between_calls, nullptr);
    while (__atomic_load_n(&seen_calls, __ATOMIC_SEQ_CST) != call) {
    }
  }
  volatile unsigned round = 0;
  while (round < 800000u / 64) round = round + 1;
  scratch[i] = x[i];
  y[i] = scratch[i];
}
"#;

#[test]
fn a_candidate_that_writes_to_outputs_between_its_calls_is_still_compared() {
    let repository = shared_repository();
    repository.git(&["checkout", "--quiet", "-b", "spoiling"]);
    let copy = KERNEL
        .split_once("extern \"C\" __global__ void copy")
        .expect("a kernel")
        .1;
    let kernels = format!("{SPOILING_KERNEL}\nextern \"C\" __global__ void copy{copy}");
    std::fs::write(repository.crate_folder().join("src/spin.cu"), kernels).expect("it is written");
    repository.commit("spoiling");
    let finished = repository.run("fast").args(["spin"]).finish();
    repository.git(&["checkout", "--quiet", "main"]);
    // The kernel's second thread competes with it for a processor. On a busy machine the change can
    // be too uncertain to judge.
    let endings = [Ending::Code(0), Ending::Code(3)];
    assert!(endings.contains(&finished.ending), "{}", finished.stderr);
    let comparison = comparison(&finished);
    let row = row(&comparison, "spin");
    let judged = ["regressed", "inconclusive"].map(serde_json::Value::from);
    assert!(judged.contains(&row["verdict"]), "{row}");
    assert!(row["change"].is_object(), "{row}");
}

#[test]
fn a_compile_error_in_a_baseline_kernel_is_shown_with_the_compiler_output() {
    let repository = shared_repository();
    let kernels = repository.crate_folder().join("src/spin.cu");
    let kernel = std::fs::read_to_string(&kernels).expect("text");
    repository.git(&["checkout", "--quiet", "-b", "uncompiled"]);
    std::fs::write(&kernels, kernel.replace("y[i] = scratch[i];", "y[i] = no_such_name;")).expect("it is written");
    repository.commit("uncompiled");
    repository.git(&["checkout", "--quiet", "main"]);
    let run = Run::on(&Fixture::made_in(&repository.crate_folder())).briefly();
    let finished = run.args(["--against", "uncompiled", "spin"]).finish().expect_code(100);
    let message = "warning: the baseline `uncompiled` has a kernel that does not compile";
    for words in [message, "could not compile `spin.cu`", ": error: "] {
        assert_eq!(
            finished.stderr.matches(words).count(),
            1,
            "{words}:\n{}",
            finished.stderr
        );
    }
}

#[test]
fn a_candidate_that_no_longer_compiles_is_a_failure_in_every_report() {
    let repository = shared_repository();
    let kernels = repository.crate_folder().join("src/spin.cu");
    let kernel = std::fs::read_to_string(&kernels).expect("text");
    std::fs::write(&kernels, kernel.replace("y[i] = scratch[i];", "y[i] = no_such_name;")).expect("it is written");
    let folder = tempfile::tempdir().expect("a folder");
    let [junit, markdown] = ["junit.xml", "comment.md"].map(|name| folder.path().join(name));
    let [to_junit, to_markdown] = [&junit, &markdown].map(|file| file.to_str().expect("UTF-8"));
    let run = Run::on(&Fixture::made_in(&repository.crate_folder())).briefly();
    let run = run.args(["--against", "fast", "spin", "--export-junit", to_junit]);
    let finished = run.args(["--export-markdown", to_markdown]).finish();
    std::fs::write(&kernels, kernel).expect("it is written");
    let finished = finished.expect_code(101);
    let read = |file| std::fs::read_to_string(file).expect("it is written");
    let remark = "the candidate ended in `error: compile-failed`";
    for words in ["│ could not compile `spin.cu`", "✗ failed: error", remark] {
        assert!(finished.stdout.contains(words), "{}", finished.stdout);
    }
    let junit = read(junit);
    assert!(
        junit.contains("tests=\"3\" skipped=\"0\" errors=\"1\" failures=\"0\"")
            && junit.contains("<error message=\"error: compile-failed\" type=\"error\">could not compile `spin.cu`"),
        "{junit}"
    );
    let markdown = read(markdown);
    assert!(
        markdown.contains("### `cargo gpubench`: ❌ ")
            && markdown.contains("| ❌ **failed**: `error` | `spin::n=64` |"),
        "{markdown}"
    );
}

#[test]
fn submodules_come_from_the_own_checkout_and_missing_ones_are_a_warning() {
    let repository = Repository::new();
    let vendor = Repository::empty();
    vendor.git(&["init", "--quiet", "--initial-branch", "main"]);
    std::fs::write(vendor.root().join("vendor.cuh"), "#define ROUNDS_OF_VENDOR 1\n").expect("written");
    vendor.commit("vendor");
    let allow = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add"];
    repository.git(&[&allow[..], &[vendor.root().as_str(), "vendor"]].concat());
    let library = repository.crate_folder().join("src/lib.rs");
    let plain = std::fs::read_to_string(&library).expect("read");
    let depth = library
        .strip_prefix(repository.root())
        .expect("inside")
        .components()
        .count()
        - 1;
    let include = format!(
        "const _: &str = include_str!(\"{}vendor/vendor.cuh\");\n",
        "../".repeat(depth)
    );
    std::fs::write(&library, plain.clone() + &include).expect("written");
    repository.commit("nested");
    // The baseline does not compile without the submodule.
    let checked_out = || repository.run("HEAD").finish().expect_code(0);
    let finished = checked_out();
    assert!(!finished.stderr.contains("submodules"), "{}", finished.stderr);
    std::fs::write(&library, plain).expect("written");
    repository.commit("without it");
    repository.git(&["submodule", "--quiet", "deinit", "--force", "vendor"]);
    let finished = checked_out();
    let warning = "submodules of `HEAD` are empty, because your checkout does not have their commits: `vendor`";
    assert!(finished.stderr.contains(warning), "{}", finished.stderr);
}

#[test]
fn without_git_the_error_says_so() {
    let repository = shared_repository();
    let programs = tempfile::tempdir().expect("a folder");
    let cargo = which("cargo");
    std::os::unix::fs::symlink(&cargo, programs.path().join("cargo")).expect("a link");
    let rustc = which("rustc");
    std::os::unix::fs::symlink(&rustc, programs.path().join("rustc")).expect("a link");
    let run = repository.run("HEAD").env("PATH", &programs.path().to_string_lossy());
    let finished = run.finish().expect_code(96);
    assert!(finished.stderr.contains("`--against` needs git"), "{}", finished.stderr);
}

fn which(program: &str) -> std::path::PathBuf {
    let path = std::env::var_os("PATH").expect("there is one");
    let mut folders = std::env::split_paths(&path).map(|folder| folder.join(program));
    folders.find(|file| file.exists()).expect("it is installed")
}
