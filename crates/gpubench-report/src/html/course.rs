//! The course of an observation: memory, launches and copies over time.

use super::chart::{self, Path, Scale, drawing, extent, label, line};
use super::markup::{Element, Markup, element, section};
use crate::terminal::probe::figures::{age, count, rate as figure_rate};
use gpubench_contract::units::{byte_rate, size};
use gpubench_contract::{ProbeFinished, ProbePoint};

const WIDTH: f64 = 340.0;
const HEIGHT: f64 = 118.0;
const LEFT: f64 = 8.0;
const RIGHT: f64 = WIDTH - 8.0;
const TOP: f64 = 20.0;
const BASE: f64 = 94.0;

/// Returns the charts. `None` if the observation was too short for one.
pub(super) fn section_of(finished: &ProbeFinished) -> Option<Element> {
    let points = &finished.timeline;
    if points.len() < 2 {
        return None;
    }
    let rates = |figure: fn(&ProbePoint) -> u64| -> Vec<f64> {
        let before = std::iter::once(0).chain(points.iter().map(|point| point.elapsed_ns));
        let steps = points.iter().zip(before);
        steps
            .map(|(point, before)| {
                let seconds = point.elapsed_ns.saturating_sub(before) as f64 / 1e9;
                if seconds > 0.0 {
                    figure(point) as f64 / seconds
                } else {
                    0.0
                }
            })
            .collect()
    };
    let memory: Vec<f64> = points.iter().map(|point| point.live_bytes as f64).collect();
    let charts = [
        chart(points, &memory, "Live memory", |bytes| size(bytes as u64).to_string()),
        chart(points, &rates(|point| point.launches), "Launches of kernels", |rate| {
            format!("{} launches/s", figure_rate(rate))
        }),
        chart(points, &rates(|point| point.copied_bytes), "Copied bytes", |rate| {
            byte_rate(rate).to_string()
        }),
    ];
    let figures = element("div").class("figures").children(charts);
    Some(section("course", "Over time").child(figures).child(failures(points)))
}

fn chart(points: &[ProbePoint], values: &[f64], what: &str, shown: impl Fn(f64) -> String) -> Element {
    let last = points.last().map_or(0, |point| point.elapsed_ns);
    let (_, most) = extent(values.iter().copied());
    let x = Scale::new((0.0, last as f64), (LEFT, RIGHT));
    let y = Scale::new((0.0, most), (BASE, TOP));
    let places = || {
        points
            .iter()
            .zip(values)
            .map(|(point, value)| (x.at(point.elapsed_ns as f64), y.at(*value)))
    };
    let curve = places()
        .enumerate()
        .fold(Path::default(), |path, (position, (at, value))| match position {
            0 => path.move_to(at, value),
            _ => path.line_to(at, value),
        });
    let first = places().next().map_or(LEFT, |(at, _)| at);
    let area = places().fold(Path::default().move_to(first, BASE), |path, (at, value)| {
        path.line_to(at, value)
    });
    let shapes = Markup::from(area.vertical_to(BASE).close().drawn_as("mass"))
        .then(curve.drawn_as("curve"))
        .then(line("axis", (LEFT, BASE), (RIGHT, BASE)))
        .then(label("t", LEFT, 11.0, format_args!("max {}", shown(most))))
        .then(label("t", LEFT, HEIGHT - 4.0, "0 s"))
        .then(label("t end", RIGHT, HEIGHT - 4.0, age(last)));
    let end = values.last().copied().unwrap_or(0.0);
    let words = format_args!(
        "{what} over {}: at most {}, at the end {}",
        age(last),
        shown(most),
        shown(end)
    );
    let caption = format!("{what}, at most {}, at the end {}.", shown(most), shown(end));
    chart::figure(drawing("chart", (WIDTH, HEIGHT), words, shapes), caption.as_str())
}

/// Returns when calls failed.
fn failures(points: &[ProbePoint]) -> Option<Element> {
    let failed: Vec<&ProbePoint> = points.iter().filter(|point| point.errors > 0).collect();
    let first = failed.first()?;
    let total: u64 = failed.iter().map(|point| point.errors).sum();
    let text = format!(
        "Calls failed {} times, for the first time within {} of the start.",
        count(total),
        age(first.elapsed_ns)
    );
    Some(element("p").class("bad").text(text))
}
