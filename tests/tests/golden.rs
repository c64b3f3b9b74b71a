//! The printed output, with times and machine names replaced.
#![forbid(unsafe_code)]

use camino::Utf8Path;
use gpubench_tests::{Fixture, Run, Terminal};

/// A measured value. Its replacement has the same width, so columns keep their width.
const MEASURED: &str = r" +±? ?[0-9.]+ ?(?:[nµm]?s|%|[kMGT]?B/s|[kMGT]?FLOP/s)(?: |$)";

/// Replaces everything in the table that differs between runs and machines.
fn redacted(table: &str) -> String {
    let (head, rows) = table.split_once("\n\n").expect("an empty line after the header");
    let rows = rows.lines().map(|line| match line.split_once(" passed, ") {
        Some(_) => line.rsplit_once(" in ").map_or(line, |(counts, _)| counts).to_owned() + " in [time]",
        None => redact_row(line),
    });
    [redact_head(head), String::new()]
        .into_iter()
        .chain(redact_ranking(rows.collect()))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Keeps the version and the number of cases. Line breaks depend on the machine's name, so they are
/// removed.
fn redact_head(head: &str) -> String {
    let head = head.split_whitespace().collect::<Vec<_>>().join(" ");
    let parts: Vec<&str> = head.split(" · ").collect();
    match parts[..] {
        [tool, device, cases] if device.starts_with("CPU device: ") && device.ends_with(", 2 threads") => {
            format!("{tool} · CPU device: [name], 2 threads · {cases}")
        }
        _ => head,
    }
}

/// Sorts competitors by name, because their ranks depend on the machine.
fn redact_ranking(lines: Vec<String>) -> Vec<String> {
    let mut lines: Vec<String> = lines
        .iter()
        .filter(|line| !line.starts_with("  not significant: "))
        .map(|line| competitor(line).unwrap_or_else(|| line.clone()))
        .collect();
    for competitors in lines.chunk_by_mut(|a, b| a.ends_with(" [rank]") && b.ends_with(" [rank]")) {
        competitors.sort();
    }
    lines
}

fn competitor(line: &str) -> Option<String> {
    let endings = [" fastest", "× the time", "× the time, not significant"];
    let is_ranked = endings.iter().any(|ending| line.ends_with(ending));
    let time = first_number(line).filter(|_| is_ranked)?;
    Some(format!("{}  [s]  [rank]", line[..time.start].trim_end()))
}

/// Replaces the numbers with units. Only rows of measured cases have any; case names have none.
fn redact_row(line: &str) -> String {
    let Some((case, measured)) = line.split_once("✓ pass") else {
        return line.to_owned();
    };
    let mut row = format!("{case}✓ pass");
    // The few samples of a test can spread widely on a busy machine.
    let measured = measured.replace(">999%", "99.9%");
    let mut rest = measured.as_str();
    while let Some(found) = first_number(rest) {
        row += &rest[..found.start];
        let number = &rest[found.clone()];
        let unit: String = number
            .chars()
            .skip_while(|letter| !letter.is_alphabetic() && *letter != '%')
            .collect();
        let unit = unit.trim_start_matches(['k', 'M', 'G', 'T', 'n', 'µ', 'm']);
        let (unit, width) = (format!("[{unit}]"), number.chars().count());
        row.extend([" ".repeat(width.saturating_sub(unit.len())), unit]);
        rest = &rest[found.end..];
    }
    row + rest
}

fn first_number(text: &str) -> Option<std::ops::Range<usize>> {
    let found = measured().find(text)?;
    let end = found.end() - usize::from(found.as_str().ends_with(' '));
    Some(found.start()..end)
}

fn measured() -> &'static regex::Regex {
    static PATTERN: std::sync::OnceLock<regex::Regex> = std::sync::OnceLock::new();
    PATTERN.get_or_init(|| regex::Regex::new(MEASURED).expect("a pattern"))
}

#[test]
fn the_table_of_a_tidy_crate_in_a_pipe_has_120_columns() {
    let finished = Run::on(&Fixture::new("tidy")).briefly().finish().expect_code(0);
    assert!(finished.stdout.lines().all(|line| line.chars().count() <= 120));
    insta::assert_snapshot!(redacted(&finished.stdout));
}

#[test]
fn the_table_of_a_tidy_crate_on_a_terminal_fits_its_80_columns() {
    let (terminal, stdout) = Terminal::new(80);
    let finished = Run::on(&Fixture::new("tidy"))
        .briefly()
        .args(["--color", "never"])
        .finish_onto(stdout);
    let table = terminal.text();
    let _ = finished.expect_code(0);
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    insta::assert_snapshot!(redacted(&table));
}

#[test]
fn a_table_is_plain_in_a_pipe_and_coloured_on_a_terminal() {
    let case = ["--exact", "sums::one_thread_a_row::rows=33,cols=100"];
    let plain = Run::on(&Fixture::new("tidy"))
        .briefly()
        .args(case)
        .finish()
        .expect_code(0);
    assert!(!plain.stdout.contains('\u{1b}') && !plain.stderr.contains('\u{1b}'));
    let asked = Run::on(&Fixture::new("tidy"))
        .briefly()
        .args(case)
        .args(["--color", "always"])
        .finish()
        .expect_code(0);
    assert!(asked.stdout.contains('\u{1b}'));
    let (terminal, stdout) = Terminal::new(100);
    let run = Run::on(&Fixture::new("tidy"))
        .briefly()
        .args(case)
        .env("TERM", "xterm-256color");
    let _ = run.finish_onto(stdout).expect_code(0);
    assert!(terminal.text().contains('\u{1b}'));
}

/// The part after the tree explains each failure and how to reproduce it.
#[test]
fn failures_are_explained_below_the_table() {
    let cases = [
        "--exact",
        "answers::one_element_is_wrong::n=600",
        "answers::honest::n=600",
        "memory::reads_null::n=600",
    ];
    let seed = ["--seed", "5eed"];
    let finished = Run::on(&Fixture::new("hostile"))
        .briefly()
        .args(cases)
        .args(seed)
        .finish()
        .expect_code(100);
    insta::assert_snapshot!(redacted(&finished.stdout));
}

/// Both cases use one source, so they share the compiler's message.
#[test]
fn compiler_output_is_printed_once_and_is_in_every_record() {
    let cases = ["sources::does_not_compile", "--axis", "n=600,700"];
    let run = || Run::on(&Fixture::new("hostile")).briefly().args(cases);
    let shown = run().finish().expect_code(101);
    let place = "src/sources/broken.cu:5:21";
    let screen = format!("{}{}", shown.stderr, shown.stdout);
    assert_eq!(screen.matches(place).count(), 1, "{screen}");
    let other = "│ same error as `sources::does_not_compile::n=600` above\n";
    assert!(shown.stdout.contains(other), "{}", shown.stdout);
    let finished = run().json().finish().expect_code(101);
    assert_eq!(finished.stderr.matches(place).count(), 1, "{}", finished.stderr);
    let records = finished.records();
    for result in records.results() {
        assert!(
            result["message"]
                .as_str()
                .is_some_and(|message| message.contains(place)),
            "{result}"
        );
    }
    assert_eq!(records.results().count(), 2);
}

#[test]
fn an_export_to_standard_output_is_alone_there_and_the_table_goes_to_standard_error() {
    let case = ["--exact", "sums::one_thread_a_row::rows=33,cols=100"];
    let run = |export: &[&'static str]| {
        let run = Run::on(&Fixture::new("tidy")).briefly().args(case);
        run.args(export.iter().copied()).finish().expect_code(0)
    };
    let csv = run(&["--export-csv", "-"]);
    let rows: Vec<&str> = csv.stdout.lines().collect();
    assert_eq!(rows.len(), 2, "{}", csv.stdout);
    assert!(rows[0].starts_with("package,benchmark,case,") && rows[1].starts_with("tidy,sums::one_thread_a_row,"));
    for words in ["╰─ rows=33 cols=100  ✓ pass", "1 passed, 0 failed, 0 skipped in "] {
        assert!(csv.stderr.contains(words), "{}", csv.stderr);
    }
    let json = run(&["--export-json", "-"]);
    assert!(json.stderr.contains("1 passed, "), "{}", json.stderr);
    assert_eq!(json.records().results().count(), 1);
    let page = run(&["--report", "html=-"]);
    assert!(page.stdout.starts_with("<!DOCTYPE html>") && page.stdout.trim_end().ends_with("</html>"));
    assert!(!Fixture::new("tidy").directory().join("-").exists());
}

/// Runs in a folder that belongs to no package, with a space in the path of the target directory.
#[test]
fn the_rerun_command_of_a_failed_case_works_when_pasted() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = Utf8Path::from_path(folder.path()).expect("UTF-8");
    let target = folder.join("two words");
    std::os::unix::fs::symlink(Fixture::target_directory(), &target).expect("a link");
    let manifest = Fixture::new("hostile").directory().join("Cargo.toml");
    let failed = Run::outside_of_workspaces(folder)
        .args([
            "--offline",
            "--manifest-path",
            manifest.as_str(),
            "-p",
            "hostile",
            "--target-dir",
            target.as_str(),
        ])
        .args([
            "--device",
            "cpu",
            "--threads",
            "2",
            "--test",
            "one_element_is_wrong::n=600",
        ])
        .finish()
        .expect_code(100);
    let mut lines = failed.stdout.lines();
    let command = lines.find_map(|line| line.strip_prefix("  │ run it alone: cargo "));
    let command = command.unwrap_or_else(|| panic!("no command in\n{}", failed.stdout));
    let again = Run::of_shell(&format!("exec \"$0\" {command}"), folder)
        .finish()
        .expect_code(100);
    let explained = |text: &str| {
        text.split_once("\n✗")
            .expect("an explanation")
            .1
            .lines()
            .next()
            .map(str::to_owned)
    };
    assert_eq!(explained(&again.stdout), explained(&failed.stdout));
    assert!(
        again.stdout.contains(" · 1 case\n") && again.stdout.contains(command),
        "{}",
        again.stdout
    );
}
