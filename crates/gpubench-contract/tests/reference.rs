//! Checks that the reference pages of the documentation match the code.

use std::fmt::Write;

use camino::{Utf8Path, Utf8PathBuf};
use gpubench_contract::{Cause, Grade, SchemaVersion, StopReason, Verdict};
use gpubench_diagnostic::ExitCode;
use serde_json::{Map, Value};

/// Set this variable to regenerate the pages.
const UPDATE: &str = "GPUBENCH_UPDATE_REFERENCE";

fn repository() -> Utf8PathBuf {
    Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    std::fs::read_to_string(repository().join(path)).expect("a file of the repository")
}

/// Compares a marked block of a page with the generated text, or regenerates it.
fn check(page: &str, block: &str, generated: &str) {
    let path = format!("docs/reference/{page}.md");
    let text = read(&path);
    let begin = format!("<!-- generated {block}: {UPDATE}=1 cargo test -p gpubench-contract reference -->\n");
    let end = format!("<!-- end of {block} -->");
    let (before, rest) = text.split_once(&begin).expect("the block begins");
    let (_, after) = rest.split_once(&end).expect("the block ends");
    let wanted = format!("{before}{begin}\n{}\n\n{end}{after}", generated.trim());
    gpubench_diagnostic::testing::assert_generated(repository().join(path), &wanted, UPDATE);
}

fn table<'a>(heads: &str, rows: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut text = format!("| {heads} | meaning |\n|---|---|\n");
    for (word, meaning) in rows {
        let _ = writeln!(text, "| `{word}` | {meaning} |");
    }
    text
}

#[test]
fn the_reference_of_verdicts_and_grades_matches_the_code() {
    let rows = Verdict::ALL
        .iter()
        .map(|verdict| (verdict.as_str(), verdict.describe()));
    check("verdicts", "verdicts", &table("verdict", rows));
    let rows = Grade::ALL.iter().map(|grade| (grade.as_str(), grade.describe()));
    check("verdicts", "grades", &table("grade", rows));
    let rows = StopReason::ALL.iter().map(|stop| (stop.as_str(), stop.describe()));
    check("verdicts", "stops", &table("reason", rows));
}

#[test]
fn the_reference_of_causes_matches_the_code() {
    let mut text = String::new();
    for verdict in Verdict::ALL {
        let causes = Cause::ALL.iter().filter(|cause| cause.comes_with(*verdict));
        let rows: Vec<_> = causes.map(|cause| (cause.as_str(), cause.describe())).collect();
        if !rows.is_empty() {
            let _ = write!(text, "## `{verdict}`\n\n{}\n", table("cause", rows.into_iter()));
        }
    }
    let reserved = Cause::ALL.iter().filter(|cause| cause.verdicts().is_empty());
    let rows = reserved.map(|cause| (cause.as_str(), cause.describe()));
    let _ = write!(text, "## Reserved\n\n{}", table("cause", rows));
    check("causes", "causes", &text);
}

#[test]
fn the_reference_of_exit_codes_matches_the_code() {
    let mut text = "| code | meaning |\n|--:|---|\n".to_owned();
    for code in ExitCode::ALL {
        let _ = writeln!(text, "| {} | {} |", code.number(), code.describe());
    }
    check("exit-codes", "exit-codes", &text);
}

#[test]
fn the_reference_of_records_matches_the_schema() {
    let path = format!(
        "crates/gpubench-contract/schema/gpubench-v{}.schema.json",
        SchemaVersion::NUMBER
    );
    let schema: Value = serde_json::from_str(&read(&path)).expect("JSON");
    let definitions = schema["$defs"].as_object().expect("definitions");
    let mut text = String::new();
    let mut of_records = Vec::new();
    for record in schema["oneOf"].as_array().expect("records") {
        let name = reference_name(record).expect("a definition");
        let reason = record["properties"]["reason"]["const"].as_str().expect("a reason");
        of_records.push(name);
        let _ = write!(
            text,
            "## `{reason}`\n\n{}\n\n{}\n",
            paragraph(record),
            fields(&definitions[name])
        );
    }
    text.push_str("## Objects\n\n");
    for (name, definition) in definitions {
        if definition.get("properties").is_some() && !of_records.contains(&name.as_str()) {
            let _ = write!(
                text,
                "### {name}\n\n{}\n\n{}\n",
                paragraph(definition),
                fields(definition)
            );
        }
    }
    text.push_str("## Words\n\n");
    for (name, definition) in definitions {
        let Some(words) = definition["oneOf"].as_array() else {
            continue;
        };
        let _ = write!(text, "### {name}\n\n{}\n\n", paragraph(definition));
        match name.as_str() {
            "Verdict" | "Grade" | "StopReason" => text.push_str("See [verdicts and grades](verdicts.md).\n\n"),
            "Cause" => text.push_str("See [causes](causes.md).\n\n"),
            _ => {
                let meanings: Vec<_> = words
                    .iter()
                    .map(|word| (word["const"].as_str().expect("a word"), sentence(word)))
                    .collect();
                let rows = meanings.iter().map(|(word, meaning)| (*word, &**meaning));
                let _ = writeln!(text, "{}", table("word", rows));
            }
        }
    }
    text.push_str("## Other values\n\n");
    for (name, definition) in definitions {
        let is_shown = definition.get("properties").is_some() || definition.get("oneOf").is_some();
        if !is_shown && name != "SchemaVersion" {
            let _ = write!(text, "### {name}\n\n{}\n\n", paragraph(definition));
        }
    }
    check("records", "records", &text);
}

/// Returns the name of the definition that a schema refers to.
fn reference_name(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.rsplit('/').next()
}

/// Returns a description on one line, for a table.
fn sentence(schema: &Value) -> String {
    let text = schema["description"].as_str().unwrap_or_default();
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").replace('|', "\\|")
}

/// Returns a description in lines of at most 100 columns.
fn paragraph(schema: &Value) -> String {
    let text = schema["description"].as_str().unwrap_or_default();
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("a line");
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= 100 {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines.join("\n")
}

fn fields(definition: &Value) -> String {
    let empty = Map::new();
    let properties = definition["properties"].as_object().unwrap_or(&empty);
    let required = definition["required"].as_array().map_or(&[][..], Vec::as_slice);
    let mut text = "| field | type | meaning |\n|---|---|---|\n".to_owned();
    for (name, field) in properties {
        let is_required = required.iter().any(|one| one == name);
        let left_out = if is_required { "" } else { " (may be missing)" };
        let _ = writeln!(text, "| `{name}` | {}{left_out} | {} |", kind(field), sentence(field));
    }
    text
}

/// Describes the type of a value.
fn kind(schema: &Value) -> String {
    if let Some(name) = reference_name(schema) {
        return match name {
            "SchemaVersion" => format!("{}", SchemaVersion::NUMBER),
            _ => format!("[{name}](#{})", name.to_lowercase()),
        };
    }
    if let Some(either) = schema["anyOf"].as_array() {
        let kinds: Vec<String> = either.iter().map(kind).collect();
        return kinds.join(" or ");
    }
    let one = |word: &Value| match word.as_str() {
        Some("array") => match schema["items"] {
            Value::Null => "list".to_owned(),
            ref items => format!("list of {}", kind(items)),
        },
        word => word.unwrap_or("value").to_owned(),
    };
    match &schema["type"] {
        Value::Array(kinds) => kinds.iter().map(one).collect::<Vec<_>>().join(" or "),
        kind => one(kind),
    }
}

#[test]
fn the_reference_of_the_attribute_matches_the_documentation_of_the_macros() {
    let mut text = String::new();
    for (heading, file) in [
        ("`#[gpubench]`", "gpubench"),
        ("`#[problem]`", "problem"),
        ("`cuda_source!`", "cuda_source"),
        ("`cuda_image!`", "cuda_image"),
        ("`tensor_file!`", "tensor_file"),
        ("`#[derive(KernelArg)]`", "kernel_arg"),
        ("`#[derive(Element)]`", "element"),
        ("Launching in hosted code", "host_routes"),
        ("Functions of libraries", "library_interface"),
    ] {
        let page = for_the_book(&read(&format!("gpubench/doc/{file}.md")));
        let page = page
            .strip_prefix("### From the stream to a launch\n")
            .unwrap_or(&page)
            .trim_start();
        let _ = write!(text, "## {heading}\n\n{page}\n");
    }
    check("attribute", "attribute", &text);
}

/// Converts rustdoc text for the book: headings are two levels lower, hidden lines are dropped, and
/// links to items become their names.
fn for_the_book(documentation: &str) -> String {
    let mut text = String::new();
    let mut fence = None;
    for line in documentation.lines() {
        if let Some(language) = line.strip_prefix("```") {
            let is_rust = matches!(language, "" | "no_run" | "compile_fail");
            let opens = fence.is_none();
            fence = if opens { Some(is_rust) } else { None };
            text.push_str(if opens && is_rust { "```rust,ignore\n" } else { line });
            if !(opens && is_rust) {
                text.push('\n');
            }
            continue;
        }
        match fence {
            Some(true) if line == "#" || line.starts_with("# ") || line.starts_with("#   ") => {}
            Some(_) => {
                text.push_str(line);
                text.push('\n');
            }
            None => {
                if line.starts_with('#') {
                    text.push_str("##");
                }
                text.push_str(line);
                text.push('\n');
            }
        }
    }
    without_links(&text)
}

/// Replaces links to items by their text.
fn without_links(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        out.push_str(&rest[..open]);
        rest = &rest[open..];
        let link = rest.find("](").and_then(|middle| {
            let end = middle + rest[middle..].find(')')?;
            let (shown, target) = (&rest[1..middle], &rest[middle + 2..end]);
            let is_item = target.contains("::") || target.contains('@') || target.starts_with('#');
            let is_plain = !shown.contains("```") && !target.contains(char::is_whitespace);
            (is_item && is_plain && balanced(shown)).then_some((shown, end))
        });
        if let Some((shown, end)) = link {
            out.push_str(shown);
            rest = &rest[end + 1..];
        } else {
            out.push('[');
            rest = &rest[1..];
        }
    }
    out + rest
}

fn balanced(text: &str) -> bool {
    let mut depth = 0i32;
    for letter in text.chars() {
        depth += i32::from(letter == '[') - i32::from(letter == ']');
        if depth < 0 {
            return false;
        }
    }
    depth == 0
}
