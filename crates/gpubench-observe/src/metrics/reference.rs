//! Generates the reference of metrics in the documentation.

use std::fmt::Write;

use super::exporter::Exporter;
use super::family::Kind;
use super::tests::busy;
use crate::Timestamp;

/// Set to rewrite the reference.
const UPDATE: &str = "GPUBENCH_UPDATE_REFERENCE";

const BEGIN: &str =
    "<!-- The table below is generated: GPUBENCH_UPDATE_REFERENCE=1 cargo test -p gpubench-observe reference -->\n";
const END: &str = "<!-- end of the table -->\n";

#[test]
fn the_reference_of_metrics_matches_the_code() {
    let path = camino::Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/metrics.md");
    let text = std::fs::read_to_string(&path).expect("the reference");
    let (before, rest) = text.split_once(BEGIN).expect("the table begins");
    let (_, after) = rest.split_once(END).expect("the table ends");
    let (ledger, totals) = busy();
    let mut table = "\n| metric | kind | labels | meaning |\n|---|---|---|---|\n".to_owned();
    for family in Exporter::default().families(&ledger, &totals, Timestamp(0)).0 {
        let kind = match family.kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        };
        let labels: Vec<String> = family.labels.iter().map(|label| format!("`{label}`")).collect();
        let _ = writeln!(
            table,
            "| `{}` | {kind} | {} | {} |",
            family.full_name(),
            labels.join(", "),
            family.help
        );
    }
    let wanted = format!("{before}{BEGIN}{table}\n{END}{after}");
    gpubench_diagnostic::testing::assert_generated(&path, &wanted, UPDATE);
}
