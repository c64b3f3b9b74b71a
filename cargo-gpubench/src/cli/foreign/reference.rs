//! Generates the page about options of other tools from the table.

use std::fmt::Write;

use super::Tool;
use super::table::FOREIGN;

/// Set to rewrite the page from the table.
const UPDATE: &str = "GPUBENCH_UPDATE_REFERENCE";

const BEGIN: &str =
    "<!-- The tables below are generated: GPUBENCH_UPDATE_REFERENCE=1 cargo test -p cargo-gpubench reference -->\n";

/// The tools that have a table, with its heading.
const HEADINGS: [(Tool, &str); 10] = [
    (Tool::Criterion, "criterion"),
    (Tool::Divan, "divan"),
    (Tool::Hyperfine, "hyperfine"),
    (Tool::NvBench, "NVBench"),
    (
        Tool::FlashInfer,
        "FlashInfer: `bench_gpu_time` and `flashinfer_benchmark.py`",
    ),
    (Tool::DoBench, "Triton: `do_bench` and `perf_report`"),
    (Tool::Proton, "Triton: Proton"),
    (Tool::Libtest, "libtest: `cargo bench` and `cargo test`, after `--`"),
    (Tool::Nextest, "nextest"),
    (Tool::Cargo, "cargo"),
];

fn path() -> camino::Utf8PathBuf {
    camino::Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference/other-tools.md")
}

fn generated() -> String {
    let mut text = String::new();
    for (tool, heading) in HEADINGS {
        let _ = write!(text, "\n## {heading}\n\n| option | type instead | |\n|---|---|---|\n");
        for row in FOREIGN.iter().filter(|row| row.tools.contains(&tool)) {
            let names: Vec<_> = row.names.iter().map(|name| format!("`{name}`")).collect();
            let typed = row.typed().unwrap_or("nothing".to_owned());
            let _ = writeln!(text, "| {} | {typed} | {} |", names.join(", "), row.remark);
        }
    }
    text
}

#[test]
fn the_page_in_the_documentation_matches_the_table() {
    let page = std::fs::read_to_string(path()).expect("the page");
    let (before, _) = page.split_once(BEGIN).expect("the tables begin");
    let wanted = format!("{before}{BEGIN}{}", generated());
    gpubench_diagnostic::testing::assert_generated(path(), &wanted, UPDATE);
}

#[test]
fn every_tool_of_the_table_has_a_heading() {
    for tool in FOREIGN.iter().flat_map(|row| row.tools) {
        let has_heading = HEADINGS.iter().any(|(headed, _)| headed == tool);
        assert!(has_heading || *tool == Tool::Other, "{tool:?}");
    }
}
