use anstream::adapter::strip_str;

use super::*;
use crate::tests::observation::{
    busy, finished, finished_without_calls, hostile, sample, sample_without_calls, started, started_without_calls,
};
use gpubench_diagnostic::layout::width;

fn plain(lines: &[String]) -> String {
    strip_str(&lines.join("\n")).to_string()
}

fn screen(columns: usize, rows: usize) -> Vec<String> {
    probe_screen(&started(), &sample(), ScreenSize { columns, rows })
}

#[test]
fn screen_of_80_columns() {
    insta::assert_snapshot!(plain(&screen(80, 24)));
}

#[test]
fn screen_of_120_columns() {
    insta::assert_snapshot!(plain(&screen(120, 40)));
}

#[test]
fn a_screen_never_exceeds_its_terminal() {
    for columns in [20, 30, 40, 59, 60, 80, 100, 120, 200] {
        for rows in [1, 2, 5, 10, 24, 50] {
            for sample in [sample(), busy(), hostile(), sample_without_calls()] {
                let lines = probe_screen(&started(), &sample, ScreenSize { columns, rows });
                assert!(lines.len() <= rows);
                let widest = lines.iter().map(|line| width(line)).max().unwrap_or(0);
                assert!(widest <= columns, "{columns}: {}", plain(&lines));
            }
        }
    }
}

#[test]
fn what_a_record_leaves_out_is_among_what_a_table_does_not_show() {
    let mut finished = finished();
    let seen = finished.calls.as_mut().expect("calls");
    let (processes, kernels) = (seen.processes.len() as u64, seen.kernels.len() as u64);
    (seen.processes_left_out, seen.kernels_left_out) = (381, 1_981);
    seen.memory[0].unfreed += 7;
    let text = strip_str(&probe_summary(&started(), &finished, 80)).to_string();
    assert!(processes < 20 && kernels < 20);
    assert!(
        text.contains("\n… 381 more\n") && text.contains("\n… 1,981 more\n"),
        "{text}"
    );
    assert!(text.contains("… and processes that are not listed"), "{text}");
    let mut sample = sample();
    let seen = sample.calls.as_mut().expect("calls");
    seen.processes_left_out = 381;
    let lines = probe_screen(&started(), &sample, ScreenSize { columns: 80, rows: 60 });
    assert!(plain(&lines).contains("… 381 more"));
}

#[test]
fn a_hostile_name_of_a_kernel_cannot_move_the_cursor() {
    let lines = probe_screen(&started(), &hostile(), ScreenSize { columns: 80, rows: 24 });
    let text = plain(&lines);
    assert!(!text.contains('\x1b') && !text.contains('\r'));
    assert!(
        lines
            .iter()
            .all(|line| !line.contains('\n') && !line.contains("\x1b[2J"))
    );
}

#[test]
fn summary_of_a_command_that_leaks() {
    let text = probe_summary(&started(), &finished(), 80);
    insta::assert_snapshot!(strip_str(&text));
}

#[test]
fn a_summary_in_a_file_is_as_wide_as_a_wide_terminal() {
    let mut finished = finished();
    finished.calls.as_mut().expect("calls").kernels[0].name = "k".repeat(1000);
    let text = probe_summary(&started(), &finished, gpubench_diagnostic::layout::UNBOUNDED);
    let kernels = text.lines().filter(|line| line.contains("kkk"));
    assert!(kernels.map(width).eq([120]), "{text}");
}

#[test]
fn line_of_an_interval() {
    insta::assert_snapshot!(probe_line(&sample()));
}

#[test]
fn what_was_not_observed_has_no_figures() {
    let started = started_without_calls();
    let screen = probe_screen(&started, &sample_without_calls(), ScreenSize { columns: 80, rows: 24 });
    let line = probe_line(&sample_without_calls());
    let summary = probe_summary(&started, &finished_without_calls(), 80);
    insta::assert_snapshot!(strip_str(&format!("{}\n\n{line}\n{summary}", screen.join("\n"))));
}

#[test]
fn screen_of_40_columns_and_9_rows() {
    insta::assert_snapshot!(plain(&screen(40, 9)));
}

#[test]
fn a_summary_of_processes_that_run_on_lists_what_they_still_have() {
    let mut finished = finished();
    finished.end = gpubench_contract::ProbeEnd::Interrupted;
    finished.exit_code = None;
    let seen = finished.calls.as_mut().expect("calls");
    seen.processes.truncate(1);
    seen.memory[0].unfreed = 0;
    seen.kernels.retain(|kernel| kernel.mangled.is_none());
    let text = probe_summary(&started(), &finished, 80);
    insta::assert_snapshot!(strip_str(&text));
}

#[test]
fn what_a_context_left_is_told_apart_from_what_its_process_still_has() {
    let mut finished = finished();
    let seen = finished.calls.as_mut().expect("calls");
    seen.processes.truncate(1);
    seen.processes[0].unfreed = 7;
    seen.processes[0].unfreed_bytes = 7 << 20;
    let text = strip_str(&probe_summary(&started(), &finished, 80)).to_string();
    let (left, still) = text.split_once("Still allocated:").expect("both");
    assert!(left.contains("  python (4711): 7 MiB in 7 allocations"), "{text}");
    assert!(!left.contains(" × ") && still.contains("312 × 1 MiB"), "{text}");
}

#[test]
fn the_end_is_told_in_the_terms_of_a_shell() {
    let mut finished = finished();
    let mut told = |exit_code, signal, end| {
        (finished.exit_code, finished.signal, finished.end) = (exit_code, signal, end);
        summary::outcome(&finished)
    };
    use gpubench_contract::ProbeEnd::{Duration, Ended, Interrupted};
    assert_eq!(told(Some(3), None, Ended), "exit code 3 after 1 min 02 s");
    assert_eq!(told(None, Some(11), Ended), "killed by SIGSEGV after 1 min 02 s");
    assert_eq!(told(None, Some(64), Ended), "killed by signal 64 after 1 min 02 s");
    assert_eq!(told(None, None, Duration), "observed for 1 min 02 s");
    assert_eq!(told(None, None, Interrupted), "interrupted after 1 min 02 s");
}

#[test]
fn a_filter_is_named_with_what_it_leaves_out() {
    use gpubench_contract::{ProbeFilter, ProbeLeftOut, ProbeStarted, ProbeTarget};
    let started = ProbeStarted {
        target: ProbeTarget::Process,
        command: Vec::new(),
        pids: vec![1, 2, 3, 4, 5],
        filter: Some(ProbeFilter {
            programs: vec!["a\u{1b}[2J\nb".to_owned()],
            users: vec![7, 8],
            cgroups: Vec::new(),
        }),
        ..started()
    };
    let left_out = Some(ProbeLeftOut {
        processes: 30,
        used_the_driver: 1,
        unknown: 2,
    });
    let mut finished = finished();
    finished.calls.as_mut().expect("calls").left_out = left_out;
    let text = probe_summary(&started, &finished, 120);
    let text = strip_str(&text).to_string();
    assert!(text.starts_with("processes 1, 2, 3 and 2 more (--program "), "{text}");
    assert!(text.contains(" --user 7, 8): ") && !text.contains('\u{1b}'), "{text}");
    let remark = "1 process that called the driver does not match the filter and is left out; \
                  2 processes ended too early to tell";
    assert!(text.contains(remark), "{text}");
    let mut finished = finished_without_calls();
    finished.processes_only.as_mut().expect("an outline").left_out = left_out;
    let text = probe_summary(&started, &finished, 120);
    assert!(
        strip_str(&text)
            .to_string()
            .contains("30 processes do not match the filter and are left out")
    );
}
