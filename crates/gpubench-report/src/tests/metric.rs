//! Runs and comparisons of a metric other than time: every report has its name, its unit and its
//! direction.

use super::written;
use crate::*;
use gpubench_contract::{
    Better, ChangeVerdict, ComparisonComplete, FunctionChange, MachineCodeChange, MachineCodeOutcome, Metric,
    OpcodeChange,
};
use gpubench_store::StoredRun;
use gpubench_testing::{SampleRun, competition, every_change};

fn instructions() -> Metric {
    Metric {
        name: "instructions".into(),
        unit: "instructions".into(),
        better: Better::Lower,
    }
}

fn rate() -> Metric {
    Metric {
        name: "rate".into(),
        unit: "ops/s".into(),
        better: Better::Higher,
    }
}

fn stored(run: SampleRun) -> StoredRun {
    StoredRun::new(run.started, run.results, Some(run.finished), None)
}

/// The reports of the sample run in another metric: table, CSV, Markdown, JUnit and page.
fn outputs(metric: &Metric) -> [String; 5] {
    let mut run = competition();
    for case in &mut run.cases {
        case.metric = metric.clone();
    }
    for result in &mut run.results {
        result.metric = metric.clone();
    }
    let options = TerminalOptions {
        width: 120,
        styling: Styling::Plain,
        progress: ProgressDisplay::Hidden,
        detail: Detail::Table,
    };
    let stored = stored(run.clone());
    let page = HtmlReport {
        run: &stored,
        comparisons: &[compared(metric)],
        devices: None,
        history: &[],
    };
    [
        written(&run, |output| TerminalReporter::new(output, options)),
        written(&run, CsvReporter::new),
        written(&run, MarkdownReporter::new),
        written(&run, JunitReporter::new),
        page.page(),
    ]
}

fn compared(metric: &Metric) -> ComparisonComplete {
    let mut comparison = every_change();
    for row in &mut comparison.rows {
        row.metric = metric.clone();
    }
    comparison
}

#[test]
fn every_output_names_the_metric_and_the_unit_of_its_values() {
    let [table, csv, markdown, junit, page] = outputs(&instructions());
    assert!(table.contains(" instructions "), "{table}");
    assert!(table.contains(" 16.78 M "), "{table}");
    assert!(csv.contains(",instructions,instructions,16777216,"), "{csv}");
    assert!(markdown.contains("| Instructions |"), "{markdown}");
    assert!(markdown.contains("| 16.78 M instructions |"), "{markdown}");
    assert!(junit.contains(">instructions 16.78 M instructions ±"), "{junit}");
    assert!(page.contains("16.78 M instructions"), "{page}");
    for output in [table, csv, markdown, junit] {
        assert!(!output.contains("16.78 ms") && !output.contains("fastest"), "{output}");
    }
}

/// Tables whose values have a longer unit than times, a shorter one, or none.
#[test]
fn values_end_where_their_title_ends() {
    let bytes = Metric {
        name: "memory".into(),
        unit: "B".into(),
        better: Better::Lower,
    };
    for metric in [instructions(), rate(), bytes, Metric::time()] {
        let [table, ..] = outputs(&metric);
        let ends = |line: &str, column: &str| line.find(column).map(|start| line[..start].chars().count());
        let title = table.lines().find_map(|line| ends(line, "± 95%")).expect("a title");
        let of_cases: Vec<_> = table
            .lines()
            .filter(|line| line.contains("✓ pass"))
            .map(|line| line[..line.find('%').expect("an interval")].chars().count() + 1)
            .collect();
        assert!(!of_cases.is_empty(), "{table}");
        assert!(
            of_cases.iter().all(|end| *end == title + "± 95%".chars().count()),
            "{table}"
        );
    }
}

#[test]
fn the_best_of_several_is_the_lowest_or_the_highest() {
    let ranking = |metric| {
        let [table, ..] = outputs(&metric);
        let lines = table.lines().filter(|line| line.contains("  best"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let (lowest, highest) = (ranking(instructions()), ranking(rate()));
    assert!(
        lowest.iter().any(|line| line.contains("16.78 M instructions")),
        "{lowest:?}"
    );
    assert!(highest.iter().any(|line| line.contains("53.69 Mops/s")), "{highest:?}");
}

#[test]
fn a_comparison_says_which_way_is_worse() {
    let sentence = |metric: &Metric| {
        let [.., page] = outputs(metric);
        let page = page.replace("&#39;", "'");
        let sentence = page.split("Ratios are ").nth(1).unwrap_or_default();
        sentence.split('.').next().unwrap_or_default().to_owned()
    };
    assert_eq!(
        sentence(&Metric::time()),
        "this run's time divided by the baseline's; above 1 is slower"
    );
    assert_eq!(
        sentence(&instructions()),
        "this run's instructions divided by the baseline's; above 1 is worse"
    );
    assert_eq!(
        sentence(&rate()),
        "this run's rate divided by the baseline's; above 1 is better"
    );
}

#[test]
fn a_comparisons_values_have_their_unit() {
    let options = TerminalOptions {
        width: 120,
        styling: Styling::Plain,
        progress: ProgressDisplay::Hidden,
        detail: Detail::Table,
    };
    let page = comparison_page(&compared(&instructions()), options);
    assert!(page.contains(" 205.2 k ") && page.contains(" [instructions]"), "{page}");
    let comment = comparison_markdown(&compared(&rate()), GITHUB_LIMIT);
    assert!(comment.contains("| 205.2 kops/s |"), "{comment}");
}

#[test]
fn a_run_compared_with_itself_has_a_remark() {
    let mut comparison = every_change();
    comparison.candidate.run_id.clone_from(&comparison.baseline.run_id);
    assert!(!comparison.is_of_one_run(), "its values differ");
    for row in &mut comparison.rows {
        row.candidate = row.baseline.clone();
    }
    let remark = "both are the same run, ";
    let options = TerminalOptions {
        width: 120,
        styling: Styling::Plain,
        progress: ProgressDisplay::Hidden,
        detail: Detail::Table,
    };
    let run = stored(competition());
    let page = HtmlReport {
        run: &run,
        comparisons: std::slice::from_ref(&comparison),
        devices: None,
        history: &[],
    };
    for output in [
        comparison_page(&comparison, options),
        comparisons_page(&[comparison.clone(), comparison.clone()], options),
        comparison_markdown(&comparison, GITHUB_LIMIT),
        page.page(),
    ] {
        assert!(output.contains(remark), "{output}");
    }
}

/// Returns a change of each outcome for the kernels of some functions.
fn machine_code(functions: &[FunctionChange]) -> Vec<MachineCodeChange> {
    let opcodes = [
        "FADD",
        "LDG.E.64",
        "BRA",
        "IMAD",
        "ISETP.GE",
        "EXIT",
        "NANOSLEEP",
        "S2R",
    ];
    let change = |(position, function): (usize, &FunctionChange)| MachineCodeChange {
        kernel: function.kernel.clone(),
        outcome: MachineCodeOutcome::ALL[position % 3],
        reason: (position % 3 == 2).then(|| "baseline: found no `nvdisasm`".to_owned()),
        opcodes: opcodes
            .iter()
            .take(if position % 3 == 1 { 8 } else { 0 })
            .map(|opcode| OpcodeChange {
                opcode: (*opcode).to_owned(),
                baseline: 1,
                candidate: 4,
            })
            .collect(),
    };
    functions.iter().enumerate().map(change).collect()
}

#[test]
fn the_functions_that_changed_are_below_a_comparison_of_counts() {
    let mut comparison = compared(&instructions());
    let change = |kernel: &str, function: Option<&str>, baseline: f64, candidate: f64| FunctionChange {
        kernel: kernel.to_owned(),
        function: function.map(str::to_owned),
        baseline,
        candidate,
    };
    let mut functions = vec![
        change("axpy", Some("axpy"), 200_000.0, 206_000.0),
        change("axpy", Some("<f32>|fma"), 0.0, 300.0),
    ];
    functions.extend((0..5).map(|n| change(&format!("tail_{n}"), None, 20.0, 10.0)));
    for row in &mut comparison.rows {
        row.functions.clone_from(&functions);
        row.machine_code = machine_code(&functions);
    }
    let options = TerminalOptions {
        width: 120,
        styling: Styling::Plain,
        progress: ProgressDisplay::Hidden,
        detail: Detail::Brief,
    };
    let page = comparison_page(&comparison, options);
    let below = page.split("\n\n").find(|part| part.contains('→')).unwrap_or_default();
    insta::assert_snapshot!(below);
    let comment = comparison_markdown(&comparison, GITHUB_LIMIT);
    let folded = comment
        .split("<summary>Instructions by function")
        .nth(1)
        .unwrap_or_default();
    insta::assert_snapshot!(folded.lines().take(10).collect::<Vec<_>>().join("\n"));
    let run = stored(competition());
    let html = HtmlReport {
        run: &run,
        comparisons: std::slice::from_ref(&comparison),
        devices: None,
        history: &[],
    };
    let html = html.page();
    assert!(html.contains("&lt;f32&gt;|fma in axpy: 0 → 300 instructions (+300)"));
    assert!(html.contains("axpy: 200000 → 206000 instructions (+6000, +3.00%)"));
    assert!(html.contains("and 2 more functions"));
    let cases = |count: usize| {
        let mut many = comparison.clone();
        let row = many
            .rows
            .iter()
            .find(|row| row.verdict == ChangeVerdict::Regressed)
            .cloned();
        many.rows = row.into_iter().cycle().take(count).collect();
        comparison_page(&many, options)
    };
    assert!(cases(12).contains("not shown: the functions of 2 cases"));
    assert!(!cases(10).contains("not shown:"));
}
