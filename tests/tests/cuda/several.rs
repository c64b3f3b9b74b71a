//! Runs on several GPUs.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::time::Duration;

use gpubench_tests::{FakeGpu, Fixture, Records, Role, Run, wait_until};
use rustix::process::{Pid, Signal};
use serde_json::Value;

use super::tidy;

const UUIDS: [&str; 2] = [
    "GPU-00000000-0000-0000-0000-000000000000",
    "GPU-01010101-0101-0101-0101-010101010101",
];

/// Returns a run of a few cases on two GPUs.
fn on_two(gpu: &FakeGpu) -> Run {
    tidy(gpu)
        .args(["--device", "cuda:all", "^sums"])
        .env("FAKE_CUDA_DEVICES", "2")
}

/// Returns the value of `FAKE_CUDA_LOST`: some GPUs fail when more workers have opened them.
fn lost(gpu: &FakeGpu, ordinals: &str, workers: u32, code: u32) -> String {
    format!("{}/opened:{ordinals}:{workers}:{code}", gpu.folder())
}

fn uuid(result: &Value) -> &str {
    result["device"]["uuid"].as_str().unwrap_or_default()
}

/// Returns the GPUs that measured some results.
fn measured_on(records: &Records) -> BTreeSet<&str> {
    records.results().map(uuid).collect()
}

#[track_caller]
fn assert_in_order(records: &Records) {
    for reason in ["benchmark-started", "benchmark-complete"] {
        let indices: Vec<u64> = records
            .with_reason(reason)
            .filter_map(|record| record["index"].as_u64())
            .collect();
        let count = records.the("run-started")["cases"].as_u64().expect("a number");
        assert_eq!(indices, (0..count).collect::<Vec<u64>>(), "{reason}");
    }
}

#[test]
fn gpus_of_one_kind_share_the_cases_of_one_run() {
    let gpu = FakeGpu::new();
    let records = on_two(&gpu).json().finish().expect_code(0).records();
    let device = &records.the("run-started")["device"];
    assert_eq!(device["uuids"], serde_json::json!(UUIDS), "{device}");
    assert_eq!(measured_on(&records), UUIDS.into());
    assert!(records.results().all(|result| result["verdict"] == "pass"));
    assert_in_order(&records);
    let opened = gpu
        .ledgers_of("referee")
        .into_iter()
        .filter(|ledger| ledger["Context"] > 0);
    assert_eq!(opened.count(), 2, "a referee for each GPU");
}

#[test]
fn a_table_names_how_many_gpus_it_is_of() {
    let gpu = FakeGpu::new();
    let run = tidy(&gpu)
        .args(["--device", "cuda:0-1", "^sums"])
        .env("FAKE_CUDA_DEVICES", "2");
    let finished = run.finish().expect_code(0);
    assert_eq!(
        finished.stdout.matches("2 × Fake GPU").count(),
        1,
        "{}",
        finished.stdout
    );
}

#[test]
fn gpus_of_another_kind_measure_every_case_in_a_run_of_their_own() {
    let gpu = FakeGpu::new();
    let run = || on_two(&gpu).env("FAKE_CUDA_NAMES", "Fake GPU,Other GPU");
    let records = run().json().finish().expect_code(0).records();
    let names: Vec<&Value> = records
        .with_reason("run-started")
        .map(|run| &run["device"]["name"])
        .collect();
    assert_eq!(names, ["Fake GPU", "Other GPU"]);
    let cases_on = |wanted: &str| -> Vec<&str> {
        let on_it = records.results().filter(|result| uuid(result) == wanted);
        on_it.filter_map(|result| result["case"].as_str()).collect()
    };
    assert!(cases_on(UUIDS[0]).len() > 1);
    assert_eq!(cases_on(UUIDS[0]), cases_on(UUIDS[1]));
    let refused = run().args(["--save-baseline", "both"]).finish().expect_code(2);
    for words in [
        "`--save-baseline`",
        "2 kinds",
        "`Fake GPU` (cuda:0)",
        "`--device cuda:0`, then `--device cuda:1`",
    ] {
        assert!(refused.stderr.contains(words), "{words}: {}", refused.stderr);
    }
}

#[test]
fn a_case_whose_gpu_fails_is_measured_on_another_with_a_notice() {
    for code in [214, 999] {
        let gpu = FakeGpu::new();
        let run = on_two(&gpu).json().env("FAKE_CUDA_LOST", &lost(&gpu, "1", 1, code));
        let finished = run.finish().expect_code(0);
        let records = finished.records();
        assert_in_order(&records);
        let moved: Vec<&Value> = records
            .results()
            .filter(|result| result["notices"].to_string().contains("was measured again on another"))
            .collect();
        assert_eq!(moved.len(), 1, "{code}: {:#?}", records.all());
        assert_eq!((uuid(moved[0]), &moved[0]["verdict"]), (UUIDS[0], &"pass".into()));
        let notices = moved[0]["notices"].to_string();
        assert!(notices.contains("`cuda:1`") && notices.contains(UUIDS[1]), "{notices}");
        assert!(
            finished
                .stderr
                .contains("`cuda:1` (GPU-01010101-0101-0101-0101-010101010101) failed"),
            "{}",
            finished.stderr
        );
    }
}

#[test]
fn cases_that_no_gpu_is_left_for_fail_by_name_and_finished_ones_stay() {
    let gpu = FakeGpu::new();
    let run = on_two(&gpu).args(["--test"]).json();
    let records = run
        .env("FAKE_CUDA_LOST", &lost(&gpu, "0+1", 1, 999))
        .finish()
        .expect_code(100)
        .records();
    assert_in_order(&records);
    let of = |verdict: &'static str| records.results().filter(move |result| result["verdict"] == verdict);
    assert!(of("pass").count() >= 1, "{:#?}", records.all());
    assert!(of("error").count() >= 1, "{:#?}", records.all());
    for result in of("error") {
        assert_eq!(
            (&result["cause"], uuid(result)),
            (&"device-lost".into(), ""),
            "{result}"
        );
        let message = result["message"].as_str().expect("a message");
        assert!(message.contains("failed ("), "{message}");
    }
    assert_eq!(of("pass").count() + of("error").count(), records.results().count());
}

#[test]
fn a_worker_that_only_says_that_its_gpu_failed_takes_no_gpu_away() {
    let gpu = FakeGpu::new();
    let run = on_two(&gpu).json().env("FAKE_CUDA_FAULTS", "one_thread_a_row:214");
    let finished = run.finish().expect_code(100);
    assert!(!finished.stderr.contains("measures no more"), "{}", finished.stderr);
    assert!(
        finished
            .records()
            .results()
            .all(|result| result["cause"] != "device-lost")
    );
}

#[test]
fn contestants_are_measured_on_one_gpu() {
    let gpu = FakeGpu::new();
    let run = tidy(&gpu).json().args([
        "--device",
        "cuda:all",
        "--contest",
        "^sums",
        "by_addition",
        "an_element",
    ]);
    let records = run.env("FAKE_CUDA_DEVICES", "2").finish().expect_code(0).records();
    let (rivals, others): (Vec<&Value>, Vec<&Value>) = records
        .results()
        .partition(|result| result["contest"]["number"].is_u64());
    let gpus: BTreeSet<&str> = rivals.iter().copied().map(uuid).collect();
    assert_eq!((rivals.len(), gpus.len()), (3, 1), "{gpus:?}");
    assert!(!others.is_empty());
    assert_eq!(
        measured_on(&records),
        UUIDS.into(),
        "the other GPU measures something else"
    );
}

#[test]
fn an_interrupt_ends_the_work_on_all_gpus() {
    let gpu = FakeGpu::new();
    let run = on_two(&gpu).json().patiently().args(["--timeout", "10min"]);
    let running = run
        .env("FAKE_CUDA_DELAYS", "one_thread_a_row:600000,one_warp_a_row:600000")
        .start();
    wait_until("a worker on each GPU", Duration::from_secs(60), || {
        let processes = running.processes();
        let workers = processes.iter().filter(|process| process.role == Role::Worker);
        (workers.count() >= 2).then_some(())
    });
    running.signal(Signal::INT);
    let records = running.finish().expect_code(130).records();
    assert_eq!(records.the("run-finished")["end"], "interrupted");
}

#[test]
fn lists_of_gpus_that_make_no_sense_are_refused() {
    let gpu = FakeGpu::new();
    let run = |device: &str| tidy(&gpu).args(["--device", device]).env("FAKE_CUDA_DEVICES", "2");
    for (device, words) in [
        ("cuda:", "a number is missing"),
        ("cuda:0,0", "`0` is there twice"),
        ("cuda:1-0", "ends before it begins"),
        ("cuda:0,cpu", "`cpu` is no number"),
        ("cpu:all", "unknown device `cpu:all`"),
        ("cpu,cuda:all", "unknown device"),
    ] {
        let stderr = run(device).finish().expect_code(2).stderr;
        assert!(stderr.contains(words), "{device}: {stderr}");
    }
    let stderr = run("cuda:0,9").finish().expect_code(96).stderr;
    assert!(
        stderr.contains("there is no `cuda:9`: this machine has 2 GPUs"),
        "{stderr}"
    );
    let none = run("cuda:all").env("FAKE_CUDA_DEVICES", "0").finish().expect_code(96);
    assert!(none.stderr.contains("the driver finds no GPU"), "{}", none.stderr);
    let audited = run("cuda:all").args(["--audit"]).finish().expect_code(2);
    assert!(
        audited.stderr.contains("`--audit` watches a single GPU") && audited.stderr.contains("`--device cuda:0`"),
        "{}",
        audited.stderr
    );
}

#[test]
fn a_run_waits_for_each_of_its_gpus() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = folder.path().to_str().expect("UTF-8").to_owned();
    let locks = folder.path().join("gpubench");
    std::fs::create_dir(&locks).expect("a folder");
    let lock = locks.join(format!("{}.lock", UUIDS[1]));
    let mut other = Command::new("flock")
        .arg(&lock)
        .args(["cat"])
        .stdin(Stdio::piped())
        .spawn()
        .expect("flock");
    let gpu = FakeGpu::new();
    let stderr = format!("{text}/stderr");
    let run = Run::after(&format!("exec 2>'{stderr}'"), &Fixture::new("tidy"));
    let run = gpu
        .finding(run)
        .briefly()
        .json()
        .args(["--device", "cuda:0,1", "^sums"]);
    let running = run.env("FAKE_CUDA_DEVICES", "2").env("XDG_RUNTIME_DIR", &text).start();
    wait_until("the message about the lock", Duration::from_secs(60), || {
        let stderr = std::fs::read_to_string(&stderr).unwrap_or_default();
        stderr.contains("Blocking waiting for another run on").then_some(())
    });
    drop(other.stdin.take());
    assert!(other.wait().expect("it ends").success());
    let records = running.finish().expect_code(0).records();
    assert_eq!(measured_on(&records), UUIDS.into());
}

#[test]
fn the_work_for_each_gpu_has_processors_of_its_own() {
    let Some(address) = address_near_two_processors() else {
        return;
    };
    let gpu = FakeGpu::new();
    let run = on_two(&gpu).json().patiently().args(["--timeout", "10min"]);
    let run = run.env("FAKE_CUDA_PCI", &format!("{address},{address}"));
    let running = run
        .env("FAKE_CUDA_DELAYS", "one_thread_a_row:600000,one_warp_a_row:600000")
        .start();
    let allowed = wait_until("a worker on each GPU", Duration::from_secs(60), || {
        let processes = running.processes();
        let workers = processes.iter().filter(|process| process.role == Role::Worker);
        let allowed: BTreeSet<String> = workers.filter_map(|worker| allowed(worker.pid)).collect();
        (allowed.len() >= 2).then_some(allowed)
    });
    running.signal(Signal::INT);
    let _ = running.finish().expect_code(130);
    assert_eq!(allowed.len(), 2, "{allowed:?}");
}

fn allowed(process: Pid) -> Option<String> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.as_raw_nonzero())).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    Some(line.trim().to_owned())
}

/// Returns the address of a device near at least two processors, if the machine has one.
fn address_near_two_processors() -> Option<String> {
    let devices = std::fs::read_dir("/sys/bus/pci/devices").ok()?.flatten();
    let mut addresses = devices.filter(|device| {
        let near = std::fs::read_to_string(device.path().join("local_cpulist")).unwrap_or_default();
        near.contains(['-', ','])
    });
    addresses.next()?.file_name().into_string().ok()
}
