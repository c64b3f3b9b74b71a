//! The results of several devices, next to each other.

use super::markup::{self, Element, Markup, cell, element, list, note, row_heading, scrolled, span, text};
use super::names::{Anchor, grade, marked, moment, name_with_reading, revision};
use crate::devices::{MISSING, lower_grade, notes, outcome, remarks, standing};
use crate::remarks::named;
use crate::wording::sign;
use gpubench_contract::units::{counted, percent};
use gpubench_contract::{
    DeviceCell, DeviceColumn, DeviceMatrix, DeviceRow, Metric, Standing, UNKNOWN_REVISION, Verdict,
};
use gpubench_store::StoredRun;

/// Returns the section.
pub(super) fn section(run: &StoredRun, matrix: &DeviceMatrix) -> Element {
    let heads = matrix.columns.iter().map(|column| (head(column), ""));
    let columns = std::iter::once(("case".into(), "case")).chain(heads);
    let rows = matrix.rows.iter().map(|row| line(run, row));
    let caption = format!(
        "{} on {}",
        counted(matrix.rows.len(), "result"),
        counted(matrix.columns.len(), "device")
    );
    let table = markup::table(&*caption, columns).class("devices");
    let table = table.child(element("tbody").children(rows));
    let differences = matrix
        .differences
        .iter()
        .map(|difference| element("li").text(difference));
    let differences = list("", differences).map(|lines| {
        let title = element("p").text("Not only the devices differ:");
        note("div").child(title).child(lines)
    });
    let remarks = remarks(matrix);
    let remarks = remarks.iter().map(|(remark, cases)| {
        let cases = named(cases, str::to_owned);
        element("li").text(format_args!("{remark} ({cases})"))
    });
    markup::section("devices", "Devices")
        .child(differences)
        .child(element("p").class("quiet").text(notes(matrix).join(" ")))
        .child(scrolled("Devices", table))
        .child(list("remarks", remarks))
}

/// Returns a device, and which run measured on it.
fn head(column: &DeviceColumn) -> Markup {
    let run = &column.run;
    let of = run.revision.as_ref();
    let of = of.map_or_else(|| UNKNOWN_REVISION.to_owned(), revision);
    let details = [text(&run.name), moment(&run.started_at).into(), text(of)];
    let details = details.map(|detail| span("share").child(detail));
    text(&column.title).then(details.into_iter().collect::<Markup>())
}

fn line(run: &StoredRun, row: &DeviceRow) -> Element {
    let name = name_with_reading(&row.benchmark, &row.params, &row.reading());
    let position = run.results.iter().position(|result| result.key() == row.key());
    let name = match position {
        Some(position) => Anchor(position).link(name).into(),
        None => name,
    };
    let cells = row.cells.iter().map(|result| match result {
        Some(result) => shown(result, &row.metric),
        None => cell("quiet").text(MISSING),
    });
    element("tr").child(row_heading(name)).children(cells)
}

fn shown(result: &DeviceCell, metric: &Metric) -> Element {
    let Some(value) = result.value else {
        let class = match result.verdict {
            Verdict::Pass => "mark good",
            Verdict::Skipped => "mark doubtful",
            _ => "mark bad",
        };
        return element("td").child(marked(class, sign(result.verdict), outcome(result)));
    };
    let class = match result.standing {
        Some(Standing::Best) => "good",
        _ => "plain",
    };
    let interval = result.ci95.map(|[low, high]| (high - low) / 2.0 / value.abs());
    let interval = interval
        .filter(|share| share.is_finite())
        .map(|share| format!("±{}", percent(share)));
    let standing = standing(result, metric).map(|standing| Markup::from(span(class).text(standing)).then(text(" ")));
    let grade = lower_grade(result).map(grade);
    let below = span("share").child(standing).text(interval.unwrap_or_default());
    element("td")
        .child(element("b").text(metric.quantity(value)))
        .child(below)
        .child(grade)
}
