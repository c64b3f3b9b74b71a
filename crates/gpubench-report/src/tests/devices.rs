//! Snapshots of the results of several devices in every report.

use super::broken_lines;
use super::hostile::HOSTILE;
use crate::*;
use gpubench_contract::{DeviceMatrix, Grade, Record, Standing};
use gpubench_diagnostic::is_printable;
use gpubench_testing::several_devices;

fn page(matrix: &DeviceMatrix, width: usize, styling: Styling) -> String {
    let options = TerminalOptions {
        width,
        styling,
        progress: ProgressDisplay::Hidden,
        detail: Detail::Table,
    };
    device_matrix_page(matrix, options)
}

fn plain(matrix: &DeviceMatrix, width: usize) -> String {
    page(matrix, width, Styling::Plain)
}

#[test]
fn two_devices_in_80_columns() {
    insta::assert_snapshot!(plain(&several_devices(2), 80));
}

#[test]
fn three_devices_in_80_columns() {
    insta::assert_snapshot!(plain(&several_devices(3), 80));
}

#[test]
fn two_devices_in_120_columns() {
    insta::assert_snapshot!(plain(&several_devices(2), 120));
}

#[test]
fn eight_devices_in_80_columns() {
    insta::assert_snapshot!(plain(&several_devices(8), 80));
}

#[test]
fn eight_devices_in_120_columns() {
    insta::assert_snapshot!(plain(&several_devices(8), 120));
}

#[test]
fn three_devices_in_colour() {
    let text = page(&several_devices(3), 100, Styling::Ansi);
    insta::assert_snapshot!(text.replace('\x1b', "␛"));
}

#[test]
fn a_comment_about_three_devices() {
    insta::assert_snapshot!(device_matrix_markdown(&several_devices(3), GITHUB_LIMIT));
}

#[test]
fn the_sample_has_every_standing_and_every_lower_grade() {
    let matrix = several_devices(8);
    let cells = || matrix.rows.iter().flat_map(|row| &row.cells);
    for standing in Standing::ALL {
        assert!(
            cells().flatten().any(|cell| cell.standing == Some(*standing)),
            "{standing:?}"
        );
    }
    for grade in Grade::ALL {
        assert!(cells().flatten().any(|cell| cell.grade == Some(*grade)), "{grade:?}");
    }
    assert!(cells().any(Option::is_none), "a run lacks a case");
}

#[test]
fn every_width_shows_every_value_and_breaks_no_line() {
    for count in [2, 3, 8] {
        let matrix = several_devices(count);
        let cells = matrix.rows.iter().map(|row| (row, row.cells.iter().flatten()));
        let values = cells.flat_map(|(row, cells)| cells.filter_map(|cell| Some(row.metric.quantity(cell.value?))));
        let values: Vec<String> = values.map(|value| value.to_string()).collect();
        for width in 30..200 {
            let page = plain(&matrix, width);
            let broken = broken_lines(&page, width);
            assert!(broken.is_empty(), "{count} {width}: {broken:#?}");
            for value in &values {
                let shown = page.matches(value.as_str()).count();
                assert!(
                    shown >= values.iter().filter(|other| *other == value).count(),
                    "{width}: {value}\n{page}"
                );
            }
        }
    }
}

#[test]
fn colours_change_nothing_but_colours() {
    for width in [40, 80, 120] {
        let styled = page(&several_devices(8), width, Styling::Ansi);
        let stripped = anstream::adapter::strip_str(&styled).to_string();
        assert_eq!(stripped, plain(&several_devices(8), width));
    }
}

#[test]
fn a_matrix_is_one_line_of_json_and_reads_back() {
    let record = Record::DeviceMatrix(Box::new(several_devices(8)));
    let line = json_line(&record).unwrap();
    assert_eq!(line.lines().count(), 1);
    assert_eq!(serde_json::from_str::<Record>(&line).unwrap(), record);
}

/// Returns the results of three devices with `text` in every untrusted place.
pub(crate) fn saying(text: &str) -> DeviceMatrix {
    let mut matrix = several_devices(3);
    for column in &mut matrix.columns {
        column.title = text.to_owned();
        column.host = Some(text.to_owned());
        column.run.name = text.to_owned();
        column.run.started_at = text.to_owned();
        column.run.device.name = text.to_owned();
        column.run.driver = Some(text.to_owned());
    }
    matrix.differences = vec![text.to_owned()];
    for row in &mut matrix.rows {
        row.package = text.to_owned();
        row.benchmark = text.to_owned();
        row.case = text.to_owned();
        row.remark = Some(text.to_owned());
    }
    matrix
}

#[test]
fn untrusted_texts_stay_text_on_one_line() {
    let endless = "x".repeat(100_000);
    for text in HOSTILE.into_iter().chain([&*endless, "", "\n\n"]) {
        let matrix = saying(text);
        for width in [30, 80] {
            let page = plain(&matrix, width);
            let hidden = page.chars().find(|letter| *letter != '\n' && !is_printable(*letter));
            assert_eq!(hidden, None, "{page}");
        }
        let comment = device_matrix_markdown(&matrix, GITHUB_LIMIT);
        assert!(comment.len() <= GITHUB_LIMIT, "{}", comment.len());
        let table: Vec<&str> = comment.lines().filter(|line| line.starts_with('|')).collect();
        assert_eq!(table.len(), 2 + matrix.rows.len(), "{comment}");
    }
}

#[test]
fn a_comment_never_exceeds_githubs_limit_and_counts_omitted_rows() {
    let mut matrix = several_devices(8);
    let rows = matrix.rows.clone();
    matrix.rows = (0..2_000).map(|index| rows[index % rows.len()].clone()).collect();
    let comment = device_matrix_markdown(&matrix, GITHUB_LIMIT);
    assert!(comment.len() <= GITHUB_LIMIT, "{}", comment.len());
    let shown = comment.lines().filter(|line| line.starts_with("| `")).count();
    let omitted = comment
        .lines()
        .find_map(|line| line.split_once(" rows are omitted")?.0.parse::<usize>().ok());
    assert!(
        omitted.is_some_and(|omitted| shown + omitted >= 2_000),
        "{shown} {omitted:?}"
    );
}
