//! The tables of an observation.

use super::markup::scrolled;
use super::markup::{self, Element, Markup, cell, element, row_heading, section, text};
use super::names::name;
use crate::terminal::probe::figures::{bytes, bytes_rate, count, rate, several};
use crate::terminal::probe::holdings::{lines_left, lines_of, still_live};
use crate::terminal::probe::tables::{direction, kind, process_name, timed, times};
use gpubench_contract::units::percent;
use gpubench_contract::{ProbeProcess, ProbeState};

/// A row: its heading, and its figures.
pub(super) type Row = (Markup, Vec<String>);

/// Returns a section with one table. `None` without rows.
pub(super) fn table(id: &str, title: &str, caption: &str, columns: &[&str], rows: Vec<Row>) -> Option<Element> {
    if rows.is_empty() {
        return None;
    }
    let heads = columns.iter().enumerate();
    let heads = heads.map(|(place, title)| (*title, if place == 0 { "" } else { "number" }));
    let rows = rows.into_iter().map(|(heading, figures)| {
        let figures = figures.into_iter().map(|figure| cell("number").text(figure));
        element("tr").child(row_heading(heading)).children(figures)
    });
    let table = markup::table(caption, heads).child(element("tbody").children(rows));
    Some(section(id, title).child(scrolled(title, table)))
}

/// Returns a caption with the number of rows that the table lacks.
pub(super) fn caption(what: &str, left_out: u64) -> String {
    match left_out {
        0 => what.to_owned(),
        1 => format!("{what}; 1 more is not listed"),
        more => format!("{what}; {} more are not listed", count(more)),
    }
}

pub(super) fn processes(seen: &ProbeState) -> Option<Element> {
    let columns = [
        "process",
        "pid",
        "launches",
        "graph launches",
        "peak memory",
        "unfreed",
        "copied",
        "errors",
    ];
    let row = |process: &ProbeProcess| {
        let state = if process.running { "" } else { ", ended" };
        let heading = Markup::from(name(&process_name(process)))
            .then(text(state))
            .then(element("span").class("share").text(process.command.join(" ")));
        let figures = vec![
            process.pid.to_string(),
            count(process.launches),
            count(process.graph_launches),
            bytes(process.peak_bytes),
            bytes(process.unfreed_bytes),
            bytes(process.copied_bytes),
            count(process.errors),
        ];
        (heading, figures)
    };
    let caption = caption("Processes that used the driver", seen.processes_left_out);
    let rows = seen.processes.iter().map(row).collect();
    table("processes", "Processes", &caption, &columns, rows)
}

pub(super) fn kernels(seen: &ProbeState) -> Option<Element> {
    let total = seen.work.launches().max(1) as f64;
    let rows = seen.kernels.iter().map(|kernel| {
        let figures = vec![
            count(kernel.launches),
            percent(kernel.launches as f64 / total),
            rate(kernel.launches_per_second),
            count(kernel.captured_launches),
        ];
        (name(&kernel.name).into(), figures)
    });
    let caption = caption("Launches by kernel", seen.kernels_left_out);
    let columns = ["kernel", "launches", "share", "launches/s", "captured"];
    table("kernels", "Kernels", &caption, &columns, rows.collect())
}

pub(super) fn copies(seen: &ProbeState) -> Option<Element> {
    let rows = seen.copies.iter().map(|copies| {
        let figures = vec![
            count(copies.copies),
            bytes(copies.bytes),
            bytes_rate(copies.bytes_per_second),
            copies.bandwidth.map_or_else(|| "–".to_owned(), bytes_rate),
        ];
        (text(direction(copies.direction)), figures)
    });
    let caption = "Copies by direction; the bandwidth is that of copies whose call waited";
    let columns = ["direction", "copies", "bytes", "bytes/s", "bandwidth"];
    table("copies", "Copies", caption, &columns, rows.collect())
}

pub(super) fn memory(seen: &ProbeState) -> Option<Element> {
    let rows = seen.memory.iter().map(|memory| {
        let figures = vec![
            count(memory.allocations),
            bytes(memory.allocated_bytes),
            bytes(memory.freed_bytes),
            bytes(memory.live_bytes),
            bytes(memory.unfreed_bytes),
        ];
        (text(kind(memory.kind)), figures)
    });
    let caption = "Memory by kind; left is what processes and contexts had when they ended";
    let columns = ["kind", "allocations", "allocated", "freed", "live", "unfreed"];
    table("memory", "Memory", caption, &columns, rows.collect())
}

pub(super) fn durations(seen: &ProbeState) -> Option<Element> {
    let rows = times(seen).into_iter().map(|(time, counts)| (text(&time), counts));
    let kinds = seen.durations.iter().map(|durations| timed(durations.calls));
    let columns: Vec<&str> = ["time of a call"].into_iter().chain(kinds).collect();
    let caption = "Calls that allocate or wait, by the time from their begin to their return";
    table("durations", "Durations", caption, &columns, rows.collect())
}

pub(super) fn errors(seen: &ProbeState) -> Option<Element> {
    let rows = seen.errors.iter().map(|error| {
        let heading = Markup::from(name(&error.call)).then(
            element("span")
                .class("share")
                .text(error.name.as_deref().unwrap_or("unknown error")),
        );
        (heading, vec![error.code.to_string(), count(error.count)])
    });
    table(
        "errors",
        "Errors",
        "Calls that failed, by function and result",
        &["call", "code", "count"],
        rows.collect(),
    )
}

/// Returns the memory that processes had when they ended.
pub(super) fn unfreed(seen: &ProbeState) -> Option<Element> {
    let unfreed = seen.processes.iter().filter(|process| process.unfreed > 0);
    let rows = unfreed.map(|process| (process, process.unfreed, process.unfreed_bytes, lines_left(process)));
    allocations("unfreed", "Left allocated", "failures", rows)
}

/// Returns the memory that running processes have.
pub(super) fn still_allocated(seen: &ProbeState) -> Option<Element> {
    let running = still_live(seen).into_iter();
    let rows = running.map(|process| (process, process.live, process.live_bytes, lines_of(process)));
    allocations("live", "Still allocated", "plain-list", rows)
}

/// Returns processes with a number of allocations, their bytes and their parts.
fn allocations<'a>(
    id: &str,
    title: &str,
    class: &'static str,
    rows: impl Iterator<Item = (&'a ProbeProcess, u64, u64, Vec<String>)>,
) -> Option<Element> {
    let items = rows.map(|(process, count, total, lines)| {
        let head = format!(
            "{} ({}): {} in {}",
            process_name(process),
            process.pid,
            bytes(total),
            several(count, "allocation", "allocations")
        );
        let lines = lines.into_iter().map(|line| element("li").text(line));
        element("li")
            .child(element("p").text(head))
            .child(element("ul").children(lines))
    });
    let list = markup::list(class, items)?;
    Some(section(id, title).child(list))
}

pub(super) fn calls(seen: &ProbeState) -> Option<Element> {
    let rows = seen.calls.iter().map(|calls| {
        let errors = calls.errors.map_or_else(|| "–".to_owned(), count);
        (
            name(&calls.call).into(),
            vec![count(calls.calls), errors, count(calls.lost)],
        )
    });
    let caption = "Functions of the driver, from counters that lose nothing; those that only ask are not observed";
    table(
        "calls",
        "Calls",
        caption,
        &["call", "calls", "failed", "lost events"],
        rows.collect(),
    )
}
