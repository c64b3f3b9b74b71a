use std::collections::BTreeMap;
use std::time::Duration;

use super::*;
use crate::ledger::{Ledger, Limits};
use crate::sample::Totals;
use crate::testing::Script;
use crate::{CopyDirection, DriverCall, EventKind, FunctionTotal, LeftOut, MemoryKind, Synchronization, Timestamp};

fn ledger_of(scripts: impl IntoIterator<Item = Script>) -> Ledger {
    let mut ledger = Ledger::new(Limits::default());
    let events = scripts.into_iter().flat_map(|script| script.events);
    events.for_each(|event| ledger.apply(event));
    ledger
}

pub(super) fn now() -> Timestamp {
    Timestamp(5_000_000_000)
}

/// A ledger with something in every family.
pub(super) fn busy() -> (Ledger, Totals) {
    let train = Script::new(7, 1000, "train")
        .allocate(0x1000, 1 << 20)
        .allocate_as(MemoryKind::Pinned, 0x9000, 4096)
        .name(1, "_Z4axpyPf")
        .launch(1)
        .launch(1)
        .copy(CopyDirection::HostToDevice, 1 << 20, Duration::from_millis(1))
        .fail("cuMemAlloc", 2)
        .push(EventKind::Synchronize {
            what: Synchronization::Context,
            duration: Duration::from_millis(2),
        })
        .free(0x1000);
    let leaky = Script::new(8, 1000, "leaky").allocate(0x1000, 64).free(0x77).exit(0);
    let totals = Totals {
        functions: vec![FunctionTotal {
            call: DriverCall("cuMemAlloc".into()),
            entries: 4,
            returns: 4,
            errors: 1,
            dropped: 0,
        }],
        left_out: Some(LeftOut {
            processes: 3,
            used_the_driver: 2,
            unknown: 1,
        }),
        ..Totals::default()
    };
    (ledger_of([train, leaky]), totals)
}

fn open_metrics(ledger: &Ledger) -> String {
    let page = Exporter::default().page(ledger, &Totals::default(), now());
    page.format(Format::OpenMetrics).to_owned()
}

/// Returns the value of a row.
fn value(page: &str, row: &str) -> Option<f64> {
    let line = page
        .lines()
        .find(|line| line.strip_prefix(row).is_some_and(|rest| rest.starts_with(' ')))?;
    line.rsplit(' ').next()?.parse().ok()
}

#[test]
fn the_page_has_every_table() {
    let (ledger, totals) = busy();
    let page = Exporter::default().page(&ledger, &totals, now());
    insta::with_settings!({filters => vec![(r#"version="[^"]*""#, r#"version="[…]""#)]}, {
        insta::assert_snapshot!(page.format(Format::OpenMetrics));
    });
}

#[test]
fn counters_are_counters_in_both_formats_and_only_one_ends_with_a_mark() {
    let (ledger, totals) = busy();
    let page = Exporter::default().page(&ledger, &totals, now());
    let [open_metrics, text] = [Format::OpenMetrics, Format::Text].map(|format| page.format(format));
    assert!(open_metrics.contains("# TYPE gpubench_cuda_kernel_launches counter\n"));
    assert!(text.contains("# TYPE gpubench_cuda_kernel_launches_total counter\n"));
    assert!(text.contains("# HELP gpubench_cuda_copied_bytes_total Bytes that were copied\n"));
    assert!(open_metrics.ends_with("# EOF\n") && !text.contains("# EOF") && !text.contains("# UNIT"));
    let rows = |page: &str| page.lines().filter(|line| !line.starts_with('#')).count();
    assert_eq!(rows(open_metrics), rows(text));
}

#[test]
fn no_label_has_a_pid_or_an_address() {
    let (ledger, totals) = busy();
    let page = Exporter::default().page(&ledger, &totals, now());
    let labels = regex::Regex::new(r#"(\w+)=""#).expect("an expression");
    let rows = page.format(Format::Text).lines().filter(|line| !line.starts_with('#'));
    let names: std::collections::BTreeSet<_> = rows
        .flat_map(|row| labels.captures_iter(row).map(|found| found[1].to_owned()))
        .collect();
    let wanted = [
        "call",
        "code",
        "direction",
        "error",
        "for",
        "kernel",
        "kind",
        "label",
        "le",
        "program",
        "version",
    ];
    assert!(names.iter().eq(wanted), "{names:?}");
}

/// Returns the rows of kernels with their values.
fn kernel_rows(page: &Page) -> BTreeMap<String, f64> {
    let rows = page
        .format(Format::Text)
        .lines()
        .filter(|line| line.starts_with("gpubench_cuda_kernel_launches"));
    rows.map(|row| row.rsplit_once(' ').expect("a value"))
        .map(|(row, value)| (row.to_owned(), value.parse().expect("a number")))
        .collect()
}

fn kernel_row(program: &str, kernel: &str) -> String {
    format!("gpubench_cuda_kernel_launches_total{{program=\"{program}\",kernel=\"{kernel}\"}}")
}

#[test]
fn ten_thousand_kernels_have_a_bounded_number_of_rows_that_never_shrink() {
    let script = |launches: u64| {
        (1..=10_000).fold(Script::new(7, 1, "app"), |script, n| {
            let script = script.name(n, &format!("k{n}"));
            // At the second look, the order of kernels is the other way round.
            let times = if launches == 1 { n % 3 } else { 3 - n % 3 };
            (0..=times).fold(script, |script, _| script.launch(n))
        })
    };
    let mut exporter = Exporter::default();
    let mut ledger = ledger_of([script(1)]);
    let first = kernel_rows(&exporter.page(&ledger, &Totals::default(), now()));
    script(2).events.into_iter().for_each(|event| ledger.apply(event));
    let second = kernel_rows(&exporter.page(&ledger, &Totals::default(), now()));
    assert_eq!(first.len(), 401);
    assert!(first.iter().all(|(row, value)| second[row] > *value));
    let total: f64 = second.values().sum();
    assert_eq!(total, ledger.all().kernel_launches() as f64);
}

#[test]
fn the_kernel_that_runs_has_a_row_however_many_ran_before() {
    let early = (1..=1000).fold(Script::new(7, 1, "early"), |script, n| {
        let script = script.name(n, &format!("k{n}"));
        (0..50).fold(script, |script, _| script.launch(n))
    });
    let mut exporter = Exporter::default();
    let mut ledger = ledger_of([early]);
    let at = |second: u64| Timestamp(second * 1_000_000_000);
    exporter.page(&ledger, &Totals::default(), at(10));
    let quiet = Script::new(8, 1, "late").name(1, "quiet").launch(1);
    quiet.events.into_iter().for_each(|event| ledger.apply(event));
    let page = exporter.page(&ledger, &Totals::default(), at(11));
    let all = r#"gpubench_probe_folded_total{label="kernel"}"#;
    assert_eq!(
        value(page.format(Format::Text), all),
        Some(600.0 * 50.0 + 1.0),
        "all others run too"
    );
    let more = Script::new(8, 1, "late").launch(1);
    more.events.into_iter().skip(1).for_each(|event| ledger.apply(event));
    let page = exporter.page(&ledger, &Totals::default(), at(60));
    let rows = kernel_rows(&page);
    assert_eq!(
        rows[&kernel_row("late", "quiet")],
        1.0,
        "the first launch is among the others"
    );
    assert_eq!(rows[&kernel_row("late", "other")], 1.0);
    let retired = r#"gpubench_probe_retired_values_total{label="kernel"}"#;
    assert_eq!(value(page.format(Format::Text), retired), Some(1.0));
}

#[test]
fn rows_of_what_ended_disappear_after_an_hour_and_come_back_with_their_counts() {
    let script = |pid| Script::new(pid, 1000, "job").name(1, "k").launch(1).allocate(1, 64);
    let mut ledger = ledger_of([script(7).exit(0)]);
    let mut exporter = Exporter::default();
    let mut rows = |ledger: &Ledger, minute: u64| {
        let page = exporter.page(ledger, &Totals::default(), Timestamp(minute * 60_000_000_000));
        let page = page.format(Format::Text);
        let of_job = page.lines().filter(|line| line.contains(r#"program="job""#));
        (of_job.count(), value(page, &kernel_row("job", "k")))
    };
    assert_eq!(rows(&ledger, 1).1, Some(1.0));
    assert_eq!(rows(&ledger, 59).1, Some(1.0));
    assert_eq!(rows(&ledger, 62), (0, None));
    let again = script(8);
    again.events.into_iter().for_each(|event| ledger.apply(event));
    let (found, launches) = rows(&ledger, 63);
    assert!(found > 20 && launches == Some(1.0), "{found} {launches:?}");
}

#[test]
fn errors_launches_copies_and_waits_say_which_program() {
    let wait = EventKind::Synchronize {
        what: Synchronization::Context,
        duration: Duration::from_secs(1),
    };
    let full = Script::new(7, 1, "full").fail("cuMemAlloc", 2).launch(1);
    let busy = Script::new(8, 1, "busy")
        .copy(CopyDirection::HostToDevice, 10, Duration::ZERO)
        .push(wait);
    let page = open_metrics(&ledger_of([full, busy]));
    for (row, number) in [
        (
            r#"gpubench_cuda_call_errors_total{program="full",call="cuMemAlloc",code="2",error="CUDA_ERROR_OUT_OF_MEMORY"}"#,
            Some(1.0),
        ),
        (
            r#"gpubench_cuda_launches_total{program="full",kind="plain"}"#,
            Some(1.0),
        ),
        (
            r#"gpubench_cuda_launches_total{program="busy",kind="plain"}"#,
            Some(0.0),
        ),
        (
            r#"gpubench_cuda_copied_bytes_total{program="busy",direction="host-to-device"}"#,
            Some(10.0),
        ),
        (
            r#"gpubench_cuda_wait_seconds_sum{program="busy",for="context"}"#,
            Some(1.0),
        ),
        (r#"gpubench_cuda_processes{program="full"}"#, Some(1.0)),
    ] {
        assert_eq!(value(&page, row), number, "{row}\n{page}");
    }
}

#[test]
fn programs_of_several_owners_have_rows_of_their_own_by_choice() {
    use crate::{Owner, OwnerLabel};
    let script = |pid, user, cgroup: &str| {
        let mut script = Script::new(pid, 1, "app").allocate(1, 10);
        if let EventKind::Started(start) = &mut script.events[0].kind {
            start.owner = Owner {
                user: Some(user),
                cgroup: Some(cgroup.into()),
            };
        }
        script.events
    };
    let play = |labels: &[OwnerLabel]| {
        let mut ledger = Ledger::new(Limits::default()).telling_apart(labels.to_vec());
        let events = [script(7, 0, "/a"), script(8, 1000, "/a"), script(9, 1000, "/evil\"}\n")];
        events.into_iter().flatten().for_each(|event| ledger.apply(event));
        let page = open_metrics(&ledger);
        let rows = page
            .lines()
            .filter(|line| line.starts_with("gpubench_cuda_live_bytes{"));
        rows.map(str::to_owned).collect::<Vec<_>>()
    };
    let row = |owner: &str, bytes: u64| {
        format!(r#"gpubench_cuda_live_bytes{{program="app"{owner},kind="device"}} {bytes}.0"#)
    };
    assert_eq!(play(&[]), [row("", 30)]);
    let by_user = [row(r#",user="0""#, 10), row(r#",user="1000""#, 20)];
    assert_eq!(play(&[OwnerLabel::User]), by_user);
    let by_both = [
        row(r#",user="0",cgroup="/a""#, 10),
        row(r#",user="1000",cgroup="/a""#, 10),
        row(r#",user="1000",cgroup="/evil\"} ""#, 10),
    ];
    assert_eq!(play(&[OwnerLabel::User, OwnerLabel::Cgroup]), by_both);
}

#[test]
fn streams_of_a_process_that_ended_are_no_streams() {
    let stream = crate::StreamHandle(1);
    let script = |pid| Script::new(pid, 1, "app").push(EventKind::StreamCreate { stream });
    let page = open_metrics(&ledger_of([script(7), script(8).exit(0)]));
    assert_eq!(value(&page, r#"gpubench_cuda_streams{program="app"}"#), Some(1.0));
}

#[test]
fn counters_do_not_shrink_when_a_process_ends_or_a_name_comes_late() {
    let mut exporter = Exporter::default();
    let mut ledger = Ledger::new(Limits::default());
    let script = Script::new(7, 1, "app")
        .allocate(0x1000, 64)
        .launch(1)
        .launch(2)
        .name(1, "late")
        .exit(0);
    let mut before: Vec<(String, f64)> = Vec::new();
    for event in script.events {
        ledger.apply(event);
        let page = exporter.page(&ledger, &Totals::default(), now());
        let page = page.format(Format::Text);
        for (row, old) in &before {
            assert!(value(page, row) >= Some(*old), "{row} was {old}:\n{page}");
        }
        let counters = page.lines().filter(|line| line.contains("_total"));
        let counters = counters
            .filter(|line| !line.starts_with('#'))
            .map(|line| line.rsplit_once(' ').expect("a value"));
        before = counters
            .map(|(row, value)| (row.to_owned(), value.parse().expect("a number")))
            .collect();
    }
    let page = open_metrics(&ledger);
    assert_eq!(value(&page, &kernel_row("app", "unnamed")), Some(1.0));
    assert_eq!(
        value(
            &page,
            r#"gpubench_cuda_unfreed_bytes_total{program="app",kind="device"}"#
        ),
        Some(64.0)
    );
    assert_eq!(
        value(&page, r#"gpubench_cuda_live_bytes{program="app",kind="device"}"#),
        Some(0.0)
    );
}

#[test]
fn a_hostile_name_stays_inside_its_quotes() {
    let name = "evil\"} 1\n# EOF\n\\\u{202e}\x1b[2J";
    let page = open_metrics(&ledger_of([Script::new(7, 1, name)
        .name(1, name)
        .launch(1)
        .allocate(1, 1)]));
    assert_eq!(
        page.lines().filter(|line| line.starts_with("# EOF")).count(),
        1,
        "{page}"
    );
    assert!(page.contains(r#",kernel="evil\"} 1 # EOF \\⟨U+202E⟩"} 1"#), "{page}");
}

#[test]
fn the_textfile_is_replaced_as_a_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = camino::Utf8PathBuf::from_path_buf(folder.path().join("gpubench.prom")).expect("UTF-8");
    let file = Textfile::at(path.clone()).expect("it can be written");
    let (ledger, totals) = busy();
    let page = Exporter::default().page(&ledger, &totals, now());
    file.write(&page).expect("it can be written");
    assert_eq!(
        std::fs::read_to_string(&path).expect("a file"),
        page.format(Format::Text)
    );
    assert_eq!(folder.path().read_dir().expect("a folder").count(), 1);
    let mode = std::os::unix::fs::PermissionsExt::mode(&path.metadata().expect("a file").permissions());
    assert_eq!(mode & 0o777, 0o644, "node_exporter is another user");
    let refused = Textfile::at("/nowhere/gpubench.prom".into()).expect_err("no folder");
    assert_eq!(refused.to_string(), "cannot write metrics to `/nowhere/gpubench.prom`");
}

#[test]
fn errors_without_a_row_are_other() {
    for (errors, shown) in [(16, None), (17, Some(1.0)), (18, Some(2.0))] {
        let script = (1..=errors).fold(Script::new(7, 1, "app"), |script, code| script.fail("cuInit", code));
        let row = r#"gpubench_cuda_call_errors_total{program="app",call="other",code="other",error="other"}"#;
        assert_eq!(value(&open_metrics(&ledger_of([script])), row), shown);
    }
}

#[test]
fn a_label_has_at_most_120_letters_and_those_that_are_cut_differ() {
    for (letters, cut) in [(119, false), (120, false), (121, true), (500, true)] {
        let label = labels::value(&"ä".repeat(letters));
        assert_eq!(label.chars().count(), letters.min(120));
        assert_eq!(label.contains('…'), cut, "{letters}");
    }
    let long = "x".repeat(120);
    let [one, other] = ["one", "other"].map(|end| labels::value(&format!("{long}{end}")));
    assert_ne!(one, other, "templates begin alike");
}

#[test]
fn every_family_has_its_own_help_in_both_formats() {
    let (ledger, totals) = busy();
    let page = Exporter::default().page(&ledger, &totals, now());
    let text = page.format(Format::Text);
    let lines: Vec<&str> = text.lines().collect();
    let types = lines.iter().enumerate().filter(|(_, line)| line.starts_with("# TYPE "));
    let mut families = 0;
    for (position, line) in types {
        let name = line.split(' ').nth(2).expect("a name");
        let help = lines[position - 1];
        assert!(help.starts_with(&format!("# HELP {name} ")), "{help} before {line}");
        families += 1;
    }
    assert_eq!(families, Exporter::default().families(&ledger, &totals, now()).0.len());
}

#[test]
fn each_kind_of_launch_wait_and_memory_has_its_own_row() {
    use crate::{Execution, LaunchKind};
    let wait = |what, milliseconds| EventKind::Synchronize {
        what,
        duration: Duration::from_millis(milliseconds),
    };
    let stream = crate::StreamHandle(1);
    let script = Script::new(7, 1000, "app")
        .launch(1)
        .launch_as(1, LaunchKind::Extended, Execution::Runs)
        .launch_as(1, LaunchKind::Extended, Execution::Runs)
        .launch_as(1, LaunchKind::Cooperative, Execution::Runs)
        .launch_as(1, LaunchKind::Plain, Execution::Captured)
        .push(EventKind::GraphLaunch {
            graph: crate::GraphHandle(1),
            stream,
        })
        .push(wait(Synchronization::Context, 1000))
        .push(wait(Synchronization::Stream(stream), 2000))
        .push(wait(Synchronization::Event, 4000))
        .push(EventKind::StreamCreate { stream })
        .push(EventKind::StreamCreate { stream })
        .push(EventKind::StreamDestroy { stream })
        .allocate_as(MemoryKind::Pool, 0x10, 7)
        .allocate(0x20, 5)
        .free(0x20);
    let page = open_metrics(&ledger_of([script]));
    for (row, number) in [
        (r#"gpubench_cuda_launches_total{program="app",kind="plain"}"#, 1.0),
        (r#"gpubench_cuda_launches_total{program="app",kind="extended"}"#, 2.0),
        (r#"gpubench_cuda_launches_total{program="app",kind="cooperative"}"#, 1.0),
        (r#"gpubench_cuda_launches_total{program="app",kind="graph"}"#, 1.0),
        (r#"gpubench_cuda_captured_launches_total{program="app"}"#, 1.0),
        (r#"gpubench_cuda_wait_seconds_count{program="app",for="event"}"#, 1.0),
        (r#"gpubench_cuda_wait_seconds_sum{program="app",for="context"}"#, 1.0),
        (r#"gpubench_cuda_wait_seconds_sum{program="app",for="stream"}"#, 2.0),
        (r#"gpubench_cuda_wait_seconds_sum{program="app",for="event"}"#, 4.0),
        (r#"gpubench_cuda_allocation_seconds_count{program="app"}"#, 2.0),
        (r#"gpubench_cuda_streams{program="app"}"#, 1.0),
        (r#"gpubench_cuda_live_bytes{program="app",kind="pool"}"#, 7.0),
        (r#"gpubench_cuda_live_bytes{program="app",kind="device"}"#, 0.0),
        (r#"gpubench_cuda_frees_total{program="app",kind="device"}"#, 1.0),
        (r#"gpubench_cuda_freed_bytes_total{program="app",kind="device"}"#, 5.0),
        (r#"gpubench_cuda_freed_bytes_total{program="app",kind="pool"}"#, 0.0),
    ] {
        assert_eq!(value(&page, row), Some(number), "{row}\n{page}");
    }
}

#[test]
fn memory_of_processes_of_one_program_is_added_and_the_oldest_has_its_age() {
    let script = |pid, started| Script::new(pid, started, "app").allocate(0x1000, 10);
    let page = open_metrics(&ledger_of([script(7, 2000), script(8, 1000), script(9, 3000)]));
    let row = r#"gpubench_cuda_live_bytes{program="app",kind="device"}"#;
    assert_eq!(value(&page, row), Some(30.0));
    let age = value(&page, r#"gpubench_cuda_oldest_allocation_age_seconds{program="app"}"#).expect("an age");
    assert!((3.99..4.0).contains(&age), "{age}");
}

#[test]
fn times_of_calls_are_histograms_that_only_grow_from_bucket_to_bucket() {
    let wait = |duration| EventKind::Synchronize {
        what: Synchronization::Event,
        duration,
    };
    let times = [2, 3, 7, 100, 20_000_000].map(Duration::from_micros);
    let script = times
        .into_iter()
        .fold(Script::new(7, 1, "app"), |script, time| script.push(wait(time)));
    let ledger = ledger_of([script]);
    let page = open_metrics(&ledger);
    let bucket = |at_most: &str| {
        let row = format!(r#"gpubench_cuda_wait_seconds_bucket{{le="{at_most}",program="app",for="event"}}"#);
        value(&page, &row)
    };
    for (at_most, count) in [
        ("0.000001", 0.0),
        ("0.000005", 2.0),
        ("0.00001", 3.0),
        ("0.0001", 4.0),
        ("10.0", 4.0),
    ] {
        assert_eq!(bucket(at_most), Some(count), "{at_most}\n{page}");
    }
    assert_eq!(bucket("+Inf"), Some(5.0));
    let text = Exporter::default().page(&ledger, &Totals::default(), now());
    let text = text.format(Format::Text);
    assert!(text.contains("# TYPE gpubench_cuda_wait_seconds histogram\n"), "{text}");
    let rows = text
        .lines()
        .filter(|line| line.starts_with("gpubench_cuda_wait_seconds"));
    assert_eq!(rows.count(), 18);
    assert!(
        !page.contains("gpubench_cuda_allocation_seconds_count"),
        "nothing was allocated"
    );
}
