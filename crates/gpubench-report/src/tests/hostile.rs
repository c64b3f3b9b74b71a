//! Untrusted names, messages and other texts in every report for people.

use gpubench_contract::{
    AuditedKernel, AuditedSystemCall, BenchmarkComplete, CallAudit, ComparisonComplete, ParamValue, Params,
};
use proptest::prelude::*;

use super::written;
use crate::*;
use gpubench_diagnostic::is_printable;
use gpubench_testing::{SampleRun, every_change, every_verdict, on_gpu};

/// Texts that have broken reports before.
pub(crate) const HOSTILE: [&str; 21] = [
    "</script><script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' onmouseover='alert(1)",
    "<!-- -->]]><![CDATA[&amp;&#x0;",
    "javascript:alert(1)",
    "\u{202e}gnp.exe\u{2066}",
    "\u{0}\u{1b}[31m\u{9b}2J\u{fffe}\u{feff}",
    "</style><style>*{display:none}",
    "a|b`c``|\\|d\r\n| e |\n---",
    "@everyone [click](https://example.org) ![x](y) www.example.org",
    "=HYPERLINK(\"http://example.org\")",
    "+1+cmd|' /C calc'!A0",
    "-2+3,\"quoted\"\r\nnext",
    "\t@SUM(A1)",
    "::error file=src/lib.rs,line=1::forged",
    "  ::stop-commands::token",
    "a\r\n::add-mask::x\u{2028}::error::x\n\u{b}::warning::x",
    "##[error]x",
    "a ##vso[task.complete result=Failed]x",
    "##teamcity[buildStatus text='x']",
    "section_start:1:x",
];

/// Replaces every untrusted text of a run with `text`.
pub(crate) fn saying(mut run: SampleRun, text: &str) -> SampleRun {
    let own = || text.to_owned();
    run.started.packages = vec![own(), own()];
    run.started.device.name = own();
    run.started.run_id = own();
    run.started.started_at = own();
    run.started.tool_version = own();
    run.started.environment.driver = Some(own());
    run.started.environment.cpu = Some(own());
    run.started.environment.compiler = Some(own());
    run.finished.seed = own();
    for case in &mut run.cases {
        case.package = own();
        case.benchmark = own();
        case.params = Params(vec![(own(), ParamValue::Text(own()))]);
        case.case = own();
    }
    for result in &mut run.results {
        result.package = own();
        result.benchmark = own();
        result.params = Params(vec![(own(), ParamValue::Text(own()))]);
        result.case = own();
        result.problem = Some(own());
        result.message = Some(own());
        result.grade_reason = Some(own());
        result.notices = vec![own()];
        result.device.name = own();
        result.environment.throttle_reasons = Some(vec![own()]);
        for flag in &mut result.sample_flags {
            flag.reasons = vec![own()];
        }
        for check in &mut result.checks {
            check.output = own();
        }
        for kernel in result.kernels.iter_mut().flatten() {
            kernel.kernel = own();
        }
        for step in &mut result.steps {
            step.step = own();
        }
        result.audit = Some(CallAudit {
            kernels: vec![AuditedKernel {
                name: own(),
                launches: 1.0,
            }],
            system_calls: Some(vec![AuditedSystemCall {
                name: own(),
                calls: 1.0,
            }]),
            ..CallAudit::default()
        });
    }
    run
}

/// Returns a comparison with `text` in every untrusted place.
fn comparison_saying(text: &str) -> ComparisonComplete {
    let mut comparison = every_change();
    for run in [&mut comparison.baseline, &mut comparison.candidate] {
        run.name = text.to_owned();
        run.run_id = text.to_owned();
        run.started_at = text.to_owned();
        run.tool_version = text.to_owned();
        run.device.name = text.to_owned();
        run.driver = Some(text.to_owned());
        if let Some(revision) = &mut run.revision {
            revision.commit = text.to_owned();
            revision.branch = Some(text.to_owned());
        }
    }
    comparison.differences = vec![text.to_owned()];
    comparison.new = vec![text.to_owned()];
    comparison.removed = vec![text.to_owned()];
    for row in &mut comparison.rows {
        row.package = text.to_owned();
        row.benchmark = text.to_owned();
        row.case = text.to_owned();
        row.baseline_case = format!("other {text}");
        row.remark = Some(text.to_owned());
    }
    comparison
}

/// Returns a reporter's output for these runs.
fn all_written<R: Reporter>(text: &str, reporter: impl Fn(Output) -> R) -> [String; 2] {
    let runs = [every_verdict(), on_gpu()].map(|run| SampleRun {
        comparison: Some(comparison_saying(text)),
        ..saying(run, text)
    });
    runs.map(|run| written(&run, &reporter))
}

fn terminal(output: Output) -> TerminalReporter {
    let options = TerminalOptions {
        width: 80,
        styling: Styling::Plain,
        progress: ProgressDisplay::Hidden,
        detail: Detail::Full,
    };
    TerminalReporter::new(output, options)
}

/// Parses a CSV file as its readers do.
fn parsed(text: &str) -> Vec<Vec<String>> {
    let mut rows = vec![vec![String::new()]];
    let mut letters = text.chars().peekable();
    let mut is_quoted = false;
    while let Some(letter) = letters.next() {
        let row = rows.last_mut().unwrap();
        match (letter, is_quoted) {
            ('"', true) if letters.next_if_eq(&'"').is_some() => row.last_mut().unwrap().push('"'),
            ('"', _) => is_quoted = !is_quoted,
            (',', false) => row.push(String::new()),
            ('\r', false) => {}
            ('\n', false) => rows.push(vec![String::new()]),
            (letter, _) => row.last_mut().unwrap().push(letter),
        }
    }
    rows.pop();
    rows
}

/// Commands that CI systems obey in a line, and those that they obey at its begin.
const COMMANDS: [&str; 4] = ["##[", "##vso[", "##teamcity[", "section_start:"];
const COMMANDS_AT_THE_BEGIN: &str = "::";

pub(crate) fn assert_no_runner_obeys(text: &str) {
    for line in text.split(['\n', '\r']) {
        let begin = line.trim_start_matches(|letter: char| !letter.is_ascii_graphic() || letter == '|');
        let obeyed = COMMANDS.iter().any(|command| line.contains(command)) || begin.starts_with(COMMANDS_AT_THE_BEGIN);
        assert!(!obeyed, "{line:?}");
    }
}

fn assert_nothing_is_hidden(text: &str) {
    assert_no_runner_obeys(text);
    let hidden = text.chars().find(|letter| *letter != '\n' && !is_printable(*letter));
    assert_eq!(hidden, None, "{text:?}");
}

fn assert_all_is_only_text(text: &str) {
    for page in all_written(text, terminal) {
        assert_nothing_is_hidden(&page);
    }
    for page in all_written(text, |output| MarkdownReporter::new(output).beside_a_comparison()) {
        assert_nothing_is_hidden(&page);
        assert!(page.len() <= GITHUB_LIMIT);
    }
    let tables = all_written(text, |output| CsvReporter::new(output).awaiting_a_comparison());
    for page in tables.into_iter().chain(all_written(text, SamplesReporter::new)) {
        assert_nothing_is_hidden(&page.replace("\r\n", "\n"));
        let rows = parsed(&page);
        assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{page}");
        for field in rows.iter().flatten().filter(|field| field.parse::<f64>().is_err()) {
            assert!(!field.trim_start().starts_with(['=', '+', '-', '@']), "{field}");
        }
    }
    for page in all_written(text, JsonReporter::new) {
        assert_nothing_is_hidden(&page);
        for line in page.lines() {
            serde_json::from_str::<gpubench_contract::Record>(line).expect("the record");
        }
    }
    for page in all_written(text, JunitReporter::new) {
        assert_nothing_is_hidden(&page);
        let document = roxmltree::Document::parse(&page).expect("well-formed");
        let known = [
            "testsuites",
            "testsuite",
            "properties",
            "property",
            "testcase",
            "failure",
            "error",
            "skipped",
            "system-out",
        ];
        let elements = document.descendants().filter(roxmltree::Node::is_element);
        elements.for_each(|element| assert!(known.contains(&element.tag_name().name()), "{element:?}"));
    }
}

#[test]
fn untrusted_texts_stay_text_in_every_report() {
    for text in HOSTILE {
        assert_all_is_only_text(text);
    }
}

#[test]
fn every_row_of_a_markdown_table_has_all_cells_whatever_the_names() {
    for text in HOSTILE {
        let [page, _] = all_written(text, MarkdownReporter::new);
        let table = page
            .split("\n\n")
            .find(|part| part.starts_with("| Case "))
            .expect("a table");
        for row in table.lines().skip(2) {
            let unescaped = row.replace("\\\\", "").replace("\\|", "");
            assert_eq!(unescaped.matches('|').count(), 10, "{text:?}: {row}");
        }
        let outside: String = page.split('`').step_by(2).collect::<String>().replace("\\]", "");
        for markup in ["<script", "<img", "](http", "@everyone", " www."] {
            assert!(!outside.contains(markup), "{markup} in {page}");
        }
    }
}

#[test]
fn remarks_below_an_exported_table_are_not_repeated_and_omitted_ones_are_counted() {
    let mut run = every_verdict();
    let (case, result) = (run.cases[0].clone(), run.results[0].clone());
    run.cases = vec![case; 400];
    run.results = (0..400)
        .map(|index| BenchmarkComplete {
            case: format!("bench_{index}"),
            notices: vec!["for `all`".to_owned(), format!("remark {index} {}", "µ".repeat(200))],
            ..result.clone()
        })
        .collect();
    let page = written(&run, MarkdownReporter::new);
    assert!(page.len() <= GITHUB_LIMIT, "{}", page.len());
    assert!(
        page.contains("\n> ⚠️ for `all` (`bench_0`, `bench_1`, `bench_2` and 397 more cases)\n"),
        "{page}"
    );
    let shown = page.matches("> ⚠️ remark ").count();
    assert!(
        shown > 0 && page.contains(&format!("\n{} remarks are omitted", 400 - shown)),
        "{shown} in {page}"
    );
}

#[test]
fn an_exported_table_never_exceeds_githubs_limit_and_shows_failures() {
    let mut run = every_verdict();
    let (cases, results) = (run.cases.clone(), run.results.clone());
    let many = |index: usize| index % cases.len();
    run.cases = (0..4_000).map(|index| cases[many(index)].clone()).collect();
    run.results = (0..4_000)
        .map(|index| BenchmarkComplete {
            case: format!("bench_{index}::n=1024"),
            ..results[if index == 3_999 { 3 } else { 0 }].clone()
        })
        .collect();
    for comparison in [None, Some(every_change())] {
        run.comparison = comparison;
        let page = match run.comparison {
            None => written(&run, MarkdownReporter::new),
            Some(_) => written(&run, |output| MarkdownReporter::new(output).beside_a_comparison()),
        };
        assert!(page.len() <= GITHUB_LIMIT, "{}", page.len());
        assert!(
            page.contains("`bench_3999::n=1024` | **wrong-output**"),
            "the failure has a row"
        );
        let left_out: Option<usize> = page
            .lines()
            .find_map(|line| line.split_once(" rows are omitted")?.0.parse().ok());
        let shown = (0..4_000)
            .filter(|index| page.contains(&format!("`bench_{index}::n=1024`")))
            .count();
        assert_eq!(Some(4_000 - shown), left_out);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn any_text_stays_text_in_every_report(text in any::<String>()) {
        assert_all_is_only_text(&text);
    }
}
