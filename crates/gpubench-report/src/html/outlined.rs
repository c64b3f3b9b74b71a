//! Processes whose calls were not observed.

use super::markup::{Element, Markup, element, text};
use super::names::name;
use super::observed::{Row, caption, table};
use crate::terminal::probe::figures::age;
use crate::terminal::probe::outline::{driver, submissions, with_gpu};
use gpubench_contract::{OutlinedProcess, ProbeOutline};

pub(super) fn processes(outline: &ProbeOutline) -> Option<Element> {
    let caption = caption(
        "Processes, and how often they gave work to GPUs",
        outline.processes_left_out,
    );
    let columns = ["process", "pid", "time", "CUDA driver", "submissions"];
    let rows = with_gpu(outline).map(row).collect();
    table("processes", "Processes", &caption, &columns, rows)
}

fn row(process: &OutlinedProcess) -> Row {
    let state = if process.running { "" } else { ", ended" };
    let program = process.program.as_deref().unwrap_or("(unknown program)");
    let heading = Markup::from(name(program))
        .then(text(state))
        .then(element("span").class("share").text(process.command.join(" ")));
    let figures = vec![
        process.pid.to_string(),
        age(process.seen_ns),
        driver(process).to_owned(),
        submissions(process),
    ];
    (heading, figures)
}
