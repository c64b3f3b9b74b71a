//! `history --confirm`: the commits around a change are measured, and the guilty one is named.
#![forbid(unsafe_code)]

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use gpubench_tests::{Finished, Fixture, GitRepository, Run, RunFolder, repository};
use serde_json::{Value, json};

/// Iterations of the kernel's loop. The slow one takes 250 times as many: no load hides that.
const FAST: u32 = 1_000;
const SLOW: u32 = 250_000;

/// A repository with three commits, the second of which is slow, and a recorded run of the last.
struct Recorded {
    sources: GitRepository,
    history: History,
}

/// A history of six runs of each commit.
#[derive(Clone)]
struct History {
    /// The hashes of the commits, in order.
    commits: [String; 3],
    head: Value,
    /// The recorded run, as an example.
    entry: Value,
}

impl Recorded {
    fn new() -> Recorded {
        let sources = GitRepository::in_new_folder();
        sources.git(&["init", "--quiet", "--initial-branch", "main"]);
        let runtime = repository().join("gpubench");
        let write = |name: &str, text: &str| std::fs::write(sources.root().join(name), text).expect("it is written");
        std::fs::create_dir(sources.root().join("src")).expect("a folder");
        write(
            "Cargo.toml",
            &format!(
                "[package]\nname = \"guilty\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
                 [dependencies]\ngpubench = {{ path = {runtime:?} }}\n"
            ),
        );
        write(".gitignore", "Cargo.lock\n");
        write("src/lib.rs", LIBRARY);
        let commits = [("first", FAST), ("slow", SLOW), ("mended", FAST)].map(|(message, rounds)| {
            write(
                "src/spin.cu",
                &format!("// {message}\n{}", KERNEL.replace("ROUNDS", &rounds.to_string())),
            );
            sources.commit(message)
        });
        let folder = RunFolder::new();
        let history = folder.path("history");
        let recording = Run::on(&Fixture::made_in(sources.root())).briefly();
        let _ = recording
            .args(["spin", "--history", "--history-dir", history.as_str()])
            .finish()
            .expect_code(0);
        let files = history.read_dir_utf8().expect("a folder").flatten();
        let mut files = files.map(|file| file.into_path());
        let file = files.find(|file| file.extension() == Some("jsonl")).expect("a history");
        let text = std::fs::read_to_string(file).expect("it can be read");
        let lines: Vec<Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).expect("JSON"))
            .collect();
        let [head, entry] = lines.try_into().expect("a head and a run");
        let history = History { commits, head, entry };
        Recorded { sources, history }
    }

    fn confirmation(&self, histories: &RunFolder) -> Run {
        let run = Run::on_verb("history", &Fixture::made_in(self.sources.root())).patiently();
        let settings = [("WORKERS", "6"), ("MIN_SAMPLES", "30"), ("MAX_SAMPLES", "30")];
        let run = settings
            .into_iter()
            .fold(run, |run, (name, value)| run.env(&format!("GPUBENCH_{name}"), value));
        run.env("CARGO_NET_OFFLINE", "true")
            .env("GPUBENCH_NOISE_THRESHOLD", "60%")
            .args(["--confirm", "--history-dir", histories.path("").as_str()])
    }
}

impl History {
    /// Writes the history. Each case takes twice as long with the second commit. Returns its
    /// folder.
    fn written(&self, cases: &[&str]) -> RunFolder {
        let commits = self.commits.iter().flat_map(|commit| [commit; 6]);
        let entries = commits.enumerate().map(|(day, commit)| {
            let mut entry = self.entry.clone();
            entry["run_id"] = json!(format!("{day:04x}"));
            entry["started_at"] = json!(format!("2026-10-{:02}T13:43:00Z", day + 1));
            entry["revision"] = json!({ "commit": commit, "branch": "main", "modified": false });
            let level = if *commit == self.commits[1] { 2.0 } else { 1.0 };
            let case = |name: &&str| {
                let mut case = self.entry["cases"][0].clone();
                case["case"] = json!(name);
                case["value"] = json!(1e4 * level * (1.0 + 1e-3 * (day % 3) as f64));
                case
            };
            entry["cases"] = cases.iter().map(case).collect();
            entry
        });
        let lines: Vec<Value> = [self.head.clone()].into_iter().chain(entries).collect();
        let folder = RunFolder::new();
        let _ = folder.lines("cpu.jsonl", &lines);
        folder
    }

    /// Returns the first digits of the hash of a commit.
    fn short(&self, commit: usize) -> &str {
        &self.commits[commit][..9]
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

#[gpubench(axes(n = [64]), tensors = vectors(n), reference = on_cpu, exact)]
fn spin(launcher: &mut Launcher, n: usize, x: In<u32>, y: Out<u32>) -> Result<()> {
    launcher.launch(SPIN.kernel("spin"), Grid::covering(n, 64), (x, y, n))
}
"#;

const KERNEL: &str = r#"
extern "C" __global__ void spin(const unsigned *x, unsigned *y, size_t n) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i >= n) return;
  volatile unsigned round = 0;
  while (round < ROUNDSu) round = round + 1;
  y[i] = x[i];
}
"#;

const SPIN: &str = "guilty::spin::n=64";

/// Returns the one repository that all tests share, one test at a time: builds of its commits take
/// long.
fn recorded() -> MutexGuard<'static, Recorded> {
    static RECORDED: OnceLock<Mutex<Recorded>> = OnceLock::new();
    let recorded = RECORDED.get_or_init(|| Mutex::new(Recorded::new()));
    recorded.lock().unwrap_or_else(PoisonError::into_inner)
}

fn lines_with<'f>(finished: &'f Finished, text: &str) -> Vec<&'f str> {
    let lines = finished.stdout.lines().chain(finished.stderr.lines());
    lines.filter(|line| line.contains(text)).collect()
}

#[test]
fn every_change_is_measured_and_the_guilty_commit_named_with_exit_code_3() {
    let recorded = recorded();
    let histories = recorded.history.written(&[SPIN, "guilty::gone::n=64"]);
    let finished = recorded.confirmation(&histories).finish().expect_code(3);
    let [first, slow, mended] = [0, 1, 2].map(|commit| recorded.history.short(commit));
    for (commit, verdict) in [(slow, "regressed"), (mended, "improved")] {
        let named = lines_with(&finished, "it is the guilty commit");
        let is_named = |line: &&str| line.contains(commit) && line.contains(verdict);
        assert!(named.iter().any(is_named), "{commit} {verdict}: {named:#?}");
    }
    let expected = [
        format!("  Confirming {mended} against {slow} (1 of 2): `guilty::spin::n=64`, `guilty::gone::n=64`"),
        format!("  Confirming {slow} against {first} (2 of 2): `guilty::spin::n=64`, `guilty::gone::n=64`"),
    ];
    assert_eq!(lines_with(&finished, "  Confirming "), expected);
    let absent = lines_with(&finished, "no result of `guilty::gone::n=64`");
    assert_eq!(absent.len(), 2, "{}", finished.stderr);
    let [stdout, stderr] = [&finished.stdout, &finished.stderr];
    for commit in &recorded.history.commits {
        assert!(!stdout.contains(commit) && !stderr.contains(commit), "{stdout}{stderr}");
    }
}

#[test]
fn a_history_of_another_device_is_refused_before_anything_is_built() {
    let recorded = recorded();
    let mut history = recorded.history.clone();
    history.head["identity"]["host_cpu"] = json!("Slide Rule 2000");
    let refused = recorded
        .confirmation(&history.written(&[SPIN]))
        .finish()
        .expect_code(96);
    assert_eq!(refused.stdout, "");
    assert!(
        refused.errors()[0].contains("is of another processor: `Slide Rule 2000`; here it is `"),
        "{}",
        refused.stderr
    );
    assert!(refused.stderr.contains("(hint: "), "{}", refused.stderr);
    assert_eq!(lines_with(&refused, "Building"), [] as [&str; 0]);
}

#[test]
fn a_mode_of_the_history_is_measured_without_being_set() {
    let recorded = recorded();
    let mut history = recorded.history.clone();
    history.entry["cases"][0]["mode"] = json!("warm");
    let histories = history.written(&[SPIN]);
    let confirmation = recorded.confirmation(&histories);
    let records = confirmation.json().finish().records();
    let modes: Vec<&Value> = records.results().map(|result| &result["mode"]).collect();
    assert_eq!(modes, ["warm", "warm"]);
    let shown = records.the("benchmark-history");
    let changes = shown["changes"].as_array().expect("a list");
    let are_measured = changes.iter().all(|change| change["confirmation"].is_object());
    assert!(changes.len() == 2 && are_measured, "{shown:#}");
}

#[test]
fn a_change_whose_commit_is_gone_is_an_error_and_the_others_are_measured() {
    let recorded = recorded();
    let mut history = recorded.history.clone();
    history.commits[0] = "0123456789abcdef0123456789abcdef01234567".to_owned();
    let histories = history.written(&[SPIN]);
    let confirmation = recorded.confirmation(&histories);
    let finished = confirmation.finish().expect_code(2);
    assert!(
        finished.errors()[0].contains("`012345678` is not a revision"),
        "{}",
        finished.stderr
    );
    let named = lines_with(&finished, "it is the guilty commit");
    assert!(
        named.len() == 1 && named[0].contains(recorded.history.short(2)),
        "{named:#?}"
    );
}

#[test]
fn a_history_cannot_make_git_look_up_a_branch() {
    let recorded = recorded();
    let mut history = recorded.history.clone();
    history.commits[2] = "main".to_owned();
    let refused = recorded.confirmation(&history.written(&[SPIN])).finish().expect_code(2);
    assert!(
        refused.errors()[0].contains("which is no full hash"),
        "{}",
        refused.stderr
    );
    assert_eq!(lines_with(&refused, "Building"), [] as [&str; 0]);
}
