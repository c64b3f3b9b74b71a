//! The results of several devices as GitHub Markdown.

use super::devices::{MISSING, lower_grade, notes, outcome, remarks, standing};
use super::markdown_text::{code, plain};
use super::pull_request::{Body, FOR_THE_NOTE};
use super::remarks::named;
use gpubench_contract::units::listed;
use gpubench_contract::{DeviceCell, DeviceMatrix, DeviceRow, Standing};

/// Returns a table of at most `limit` bytes, or of a few thousand if `limit` is smaller. Rows that
/// do not fit are counted.
pub fn device_matrix_markdown(matrix: &DeviceMatrix, limit: usize) -> String {
    let titles = matrix.columns.iter().map(|column| plain(&column.title));
    let titles: Vec<String> = titles.collect();
    let lines = "--:|".repeat(titles.len());
    let head = format!("| Benchmark | {} |\n|:--|{lines}\n", titles.join(" | "));
    let warnings = matrix.differences.iter();
    let warnings = warnings.map(|difference| format!("> ⚠️ {}\n\n", plain(difference)));
    let mut body = Body {
        text: format!("### `cargo gpubench`: {} devices\n\n", titles.len()),
        left: limit.saturating_sub(FOR_THE_NOTE),
        left_out: 0,
    };
    body.text.extend(warnings);
    body.left = body.left.saturating_sub(body.text.len());
    body.section(&head, matrix.rows.iter().map(row), "\n");
    let notes = notes(matrix).into_iter().map(|note| format!("- {}\n", plain(note)));
    let remarks = remarks(matrix);
    let remarks = remarks
        .iter()
        .map(|(remark, cases)| format!("- {} ({})\n", plain(remark), named(cases, code)));
    body.section("", notes.chain(remarks), "");
    body.finished()
}

fn row(row: &DeviceRow) -> String {
    let cells = row.cells.iter().map(|result| match result {
        Some(result) => cell(row, result),
        None => MISSING.to_owned(),
    });
    let cells: Vec<String> = cells.collect();
    format!("| {} | {} |\n", code(&row.label()), cells.join(" | "))
}

fn cell(row: &DeviceRow, result: &DeviceCell) -> String {
    let Some(value) = result.value else {
        let sign = if result.verdict.is_failure() { "❌ " } else { "" };
        return format!("{sign}{}", outcome(result));
    };
    let value = row.metric.quantity(value).to_string();
    let value = match result.standing {
        Some(Standing::Best) => format!("**{value}**"),
        _ => value,
    };
    let grade = lower_grade(result).map(|grade| grade.to_string());
    let details = listed([standing(result, &row.metric), grade]);
    format!("{value} {details}").trim_end().to_owned()
}
