//! Generates the reference of settings in the documentation from the table.

use std::fmt::Write;

use clap::{Arg, Command};

use super::RunArguments;
use crate::cli::description::described_verb;
use crate::cli::gpubench::rows_of;
use crate::config::{Group, Row, Scope};

/// Set to rewrite the reference from the table.
const UPDATE: &str = "GPUBENCH_UPDATE_REFERENCE";

const BEGIN: &str =
    "<!-- The tables below are generated: GPUBENCH_UPDATE_REFERENCE=1 cargo test -p cargo-gpubench reference -->\n";
const END: &str = "<!-- end of the tables -->\n";

fn path() -> camino::Utf8PathBuf {
    camino::Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference/settings.md")
}

fn generated() -> String {
    let mut verb = described_verb();
    verb.build();
    let mut text = table(&verb, &RunArguments::rows());
    for below in verb.get_subcommands().filter(|below| below.get_name() != "help") {
        let rows = rows_of(below.get_name());
        let _ = write!(
            text,
            "\n### `cargo gpubench {}`\n{}",
            below.get_name(),
            table(below, &rows)
        );
    }
    text
}

fn table(command: &Command, rows: &[Row]) -> String {
    let mut text = "\n| option | built in | also in | |\n|---|---|---|---|\n".to_owned();
    for row in rows {
        let option = command.get_arguments().find(|option| option.get_id() == row.id);
        let option = option.expect("every row is an option");
        if option.is_hide_set() {
            continue;
        }
        let also_in = match row.scope {
            Scope::Line => "",
            Scope::Case if command.get_name() == "gpubench" => "profile, override, manifest",
            Scope::Profile | Scope::Case => "profile",
        };
        let help = option.get_help().expect("every option has help").to_string();
        let (help, otherwise) = match help.split_once(" [default: ") {
            Some((help, otherwise)) => (help.to_owned(), otherwise.trim_end_matches(']').to_owned()),
            None => (help, built_in(option)),
        };
        let cells = [names(option), otherwise, also_in.to_owned(), help + &possible(option)];
        let _ = writeln!(text, "| {} |", cells.map(|cell| cell.replace('|', "\\|")).join(" | "));
    }
    text
}

fn names(option: &Arg) -> String {
    let value = option.get_value_names().unwrap_or_default();
    let value: String = if !option.get_action().takes_values() {
        String::new()
    } else if option.is_require_equals_set() {
        format!("[={}]", value.concat())
    } else {
        value.iter().map(|name| format!(" {name}")).collect()
    };
    let short = option.get_short().map(|short| format!("`-{short}`, "));
    match option.get_long() {
        Some(long) => format!("{}`--{long}{value}`", short.unwrap_or_default()),
        None => format!("`{}`", value.trim_start()),
    }
}

fn built_in(option: &Arg) -> String {
    let values = option
        .get_default_values()
        .iter()
        .filter(|_| option.get_action().takes_values());
    values.map(|value| format!("`{}`", value.to_string_lossy())).collect()
}

fn possible(option: &Arg) -> String {
    let values = option.get_possible_values();
    let values: Vec<_> = values.iter().map(|value| format!("`{}`", value.get_name())).collect();
    if option.get_action().takes_values() && !option.is_hide_possible_values_set() && !values.is_empty() {
        format!(": {}", values.join(", "))
    } else {
        String::new()
    }
}

#[test]
fn the_reference_in_the_documentation_matches_the_table() {
    let page = std::fs::read_to_string(path()).expect("the page");
    let (before, rest) = page.split_once(BEGIN).expect("the reference begins");
    let (_, after) = rest.split_once(END).expect("the reference ends");
    let wanted = format!("{before}{BEGIN}{}\n{END}{after}", generated());
    gpubench_diagnostic::testing::assert_generated(path(), &wanted, UPDATE);
}
