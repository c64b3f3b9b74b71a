//! Untrusted names, messages and numbers.

use std::collections::HashSet;

use proptest::prelude::*;
use roxmltree::{Document, Node, ParsingOptions};

use super::pages::{comparison, plain_page, stored};
use crate::HtmlReport;
use crate::tests::devices;
use crate::tests::hostile::{self, HOSTILE};
use gpubench_contract::{Conservation, CounterRate, Stats, Throughput, WorkerShare};
use gpubench_stats::summary;
use gpubench_store::StoredRun;
use gpubench_testing::{every_verdict, on_gpu, several_devices};

/// All elements that a page may contain.
const ELEMENTS: [&str; 53] = [
    "html",
    "head",
    "meta",
    "title",
    "style",
    "body",
    "a",
    "header",
    "p",
    "h1",
    "h2",
    "h3",
    "h4",
    "span",
    "b",
    "dl",
    "div",
    "dt",
    "dd",
    "time",
    "code",
    "nav",
    "ul",
    "li",
    "main",
    "section",
    "table",
    "caption",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "svg",
    "path",
    "rect",
    "text",
    "circle",
    "details",
    "summary",
    "figure",
    "figcaption",
    "footer",
    "pre",
    "wbr",
    "i",
    "em",
    "strong",
    "small",
    "line",
    "g",
    "q",
    "br",
];

/// Returns a run with `text` in every untrusted place.
fn saying(text: &str) -> StoredRun {
    let mut run = stored(hostile::saying(every_verdict(), text));
    if let Some(revision) = &mut run.revision {
        revision.commit = text.to_owned();
        revision.branch = Some(text.to_owned());
    }
    run
}

/// Returns the page of this run, compared with a similar one.
fn page_saying(text: &str) -> String {
    let run = saying(text);
    let mut compared = comparison(&run);
    compared.baseline.name = text.to_owned();
    compared.differences = vec![text.to_owned()];
    compared.new = vec![text.to_owned()];
    for row in &mut compared.rows {
        row.baseline_case = format!("other {text}");
        row.remark = Some(text.to_owned());
    }
    let report = HtmlReport {
        run: &run,
        comparisons: &[compared],
        devices: Some(&devices::saying(text)),
        history: &[],
    };
    report.page()
}

fn elements<'a>(document: &'a Document<'_>) -> impl Iterator<Item = Node<'a, 'a>> {
    document.descendants().filter(Node::is_element)
}

/// Parses a page strictly and fails on anything active in it.
fn assert_is_harmless(page: &str) {
    let options = ParsingOptions {
        allow_dtd: true,
        ..ParsingOptions::default()
    };
    let document = Document::parse_with_options(page, options).unwrap_or_else(|error| panic!("{error}"));
    let ids: Vec<&str> = elements(&document)
        .filter_map(|element| element.attribute("id"))
        .collect();
    let unique: HashSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), unique.len(), "an anchor occurs twice");
    for element in elements(&document) {
        let name = element.tag_name().name();
        assert!(ELEMENTS.contains(&name), "`{name}` is no element of the page");
        for attribute in element.attributes() {
            assert!(
                !attribute.name().starts_with("on") && attribute.name() != "style",
                "{}",
                attribute.name()
            );
            assert!(
                !["src", "action", "formaction", "srcdoc"].contains(&attribute.name()),
                "{}",
                attribute.name()
            );
        }
        if let Some(address) = element.attribute("href") {
            let anchor = address
                .strip_prefix('#')
                .unwrap_or_else(|| panic!("`{address}` leads elsewhere"));
            assert!(unique.contains(anchor), "`{address}` leads nowhere");
        }
    }
    let invisible = |letter: char| letter.is_control() && letter != '\n' || ('\u{202a}'..='\u{202e}').contains(&letter);
    assert!(!page.contains(invisible), "something in the page cannot be seen");
}

#[test]
fn untrusted_texts_stay_text() {
    for text in HOSTILE {
        let page = page_saying(text);
        assert_is_harmless(&page);
        assert!(page.contains("sha256-"), "the policy is there");
    }
}

#[test]
fn untrusted_texts_remain_readable() {
    let page = page_saying("</script><b>&\u{202e}");
    assert!(page.contains("&lt;/script&gt;&lt;b&gt;&amp;⟨U+202E⟩"));
}

/// Numbers that an unchecked file may contain.
fn figure() -> impl Strategy<Value = f64> {
    let extremes = vec![0.0, -0.0, f64::MIN, f64::MAX, f64::MIN_POSITIVE, 5e-324, 1e300, -1e300];
    prop_oneof![
        prop::sample::select(extremes),
        any::<f64>().prop_filter("JSON has no other", |figure| figure.is_finite()),
        1.0..1e9f64
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_text_stays_text(text in any::<String>()) {
        assert_is_harmless(&page_saying(&text));
    }

    #[test]
    fn no_number_breaks_a_chart(
        samples in prop::collection::vec(figure(), 1..40),
        figures in prop::collection::vec(figure(), 12),
        own in any::<u64>(),
    ) {
        let mut run = stored(on_gpu());
        run.run.device.peak_bandwidth = Some(figures[0]);
        run.run.device.peak_flops = Some(figures[1]);
        for result in &mut run.results {
            result.samples.clone_from(&samples);
            result.workers = vec![WorkerShare { samples: own, value: Some(figures[2]), placements: Vec::new() }, WorkerShare { samples: 3, value: None, placements: Vec::new() }];
            let computed = summary(&[&samples]);
            result.stats = computed.or(result.stats.take()).map(|stats| Stats { value: figures[3], ci95: Some([figures[4], figures[5]]), ..stats });
            result.throughput = Throughput { bytes_per_s: Some(figures[6]), bytes_from: None, flops_per_s: Some(figures[7]), of_peak_bandwidth: Some(figures[8]), of_peak_flops: None, counters: vec![CounterRate { name: "<b>".into(), amount: own, per_s: figures[7] }] };
            result.conservation = Some(Conservation { excess_ns: Some(figures[9]), bound_ns: Some(figures[10]), ..Conservation::new(1.0, 2.0, None).unwrap() });
        }
        let mut compared = comparison(&run);
        for change in compared.rows.iter_mut().filter_map(|row| row.change.as_mut()) {
            (change.ratio, change.interval, change.threshold) = (figures[11], [figures[4], figures[5]], figures[3]);
        }
        let mut devices = several_devices(3);
        for cell in devices.rows.iter_mut().flat_map(|row| row.cells.iter_mut().flatten()) {
            (cell.value, cell.ratio, cell.ci95) = (Some(figures[0]), Some(figures[1]), Some([figures[2], figures[3]]));
        }
        let page = HtmlReport { run: &run, comparisons: &[compared], devices: Some(&devices), history: &[] }.page();
        assert_is_harmless(&page);
        let document = Document::parse_with_options(&page, ParsingOptions { allow_dtd: true, ..ParsingOptions::default() }).unwrap();
        for element in elements(&document) {
            for name in ["d", "x", "y", "cx", "cy", "width", "height", "viewBox"] {
                let value = element.attribute(name).unwrap_or_default();
                prop_assert!(!value.contains("NaN") && !value.contains("inf"), "{}: {}", name, value);
            }
        }
        prop_assert!(plain_page(&run).len() < 200_000);
    }
}
