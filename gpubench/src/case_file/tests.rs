use super::*;
use proptest::prelude::*;

fn listed(format: CaseFormat, text: &str) -> Result<Vec<String>, String> {
    let axis = read(
        format,
        "src/shapes",
        text,
        &["m", "gain", "kind"],
        &[cell::<usize>, cell::<f32>, cell::<&str>],
    )?;
    let shown = |values: &Vec<AxisValue>| values.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
    Ok(axis.values.iter().map(shown).collect())
}

fn csv(text: &str) -> Result<Vec<String>, String> {
    listed(CaseFormat::Csv, text)
}

fn json(text: &str) -> Result<Vec<String>, String> {
    listed(CaseFormat::Json, text)
}

#[track_caller]
fn refused(result: Result<Vec<String>, String>, expected: &str) {
    assert_eq!(result.expect_err("a refusal"), expected);
}

#[test]
fn columns_are_found_by_name() {
    let text = "\u{feff}kind, other ,m,gain\r\n\"a,\"\"b\"\"\", x,1,0.1\r\n\r\nplain,,4096,2\r\n";
    assert_eq!(csv(text).unwrap(), ["1 0.1 a,\"b\"", "4096 2 plain"]);
    assert_eq!(csv("m,gain,kind\n1,2,\"two\nlines\"\n").unwrap(), ["1 2 two\nlines"]);
    assert_eq!(csv("m,gain,kind\n1,2,").unwrap(), ["1 2 "]);
}

#[test]
fn mistakes_in_csv_are_named_by_line() {
    refused(
        csv(""),
        "src/shapes:1: the file is empty; expected a line with the names of the columns",
    );
    refused(csv("m,gain,kind\n"), "src/shapes: there are no cases");
    refused(
        csv("m,kind\n1,a"),
        "src/shapes:1: there is no column `gain`, only `m`, `kind`",
    );
    refused(
        csv("m;gain;kind\n1;2;a"),
        "src/shapes:1: there is no column `m`, only `m;gain;kind`",
    );
    refused(
        csv("m,gain,kind,m\n1,2,a,3"),
        "src/shapes:1: the column `m` is there twice",
    );
    refused(
        csv("m,gain,kind\n1,2,a\n\n3,4\n"),
        "src/shapes:4: the number of fields is 2, but the header has 3",
    );
    refused(
        csv("m,gain,kind\n1,2,\"a\nb\"\n1.5,2,a\n"),
        "src/shapes:4: `1.5`, the value of `m`, is not a usize",
    );
    refused(
        csv("m,gain,kind\n1,NaN,a"),
        "src/shapes:2: `NaN`, the value of `gain`, is not an f32",
    );
    refused(
        csv("m,gain,kind\n-1,1,a"),
        "src/shapes:2: `-1`, the value of `m`, is not a usize",
    );
    refused(
        csv("m,gain,kind\n18446744073709551615,1,a"),
        "src/shapes:2: `18446744073709551615`, the value of `m`, is not a usize",
    );
    refused(csv("m,gain,kind\n1,2,\"a"), "src/shapes:2: a quoted field has no end");
    refused(
        csv("m,gain,kind\n1,2,\"a\"b"),
        "src/shapes:2: text after the end of a quoted field",
    );
    refused(
        csv("m,gain,kind\n1,2,a\"b\""),
        "src/shapes:2: a quote in a field that does not begin with one",
    );
}

#[test]
fn objects_have_other_keys_and_lists_the_order_of_the_axes() {
    let text = r#"[
        {"kind": "a\n\u00b5\ud83d\ude00", "notes": [{"deep": null}, []], "m": 1, "gain": 1e-1},
        [4096, 2, "plain"]
    ]"#;
    assert_eq!(json(text).unwrap(), ["1 0.1 a\nµ😀", "4096 2 plain"]);
}

/// Lines are counted once; otherwise this test would take minutes.
#[test]
fn a_file_of_many_lines_is_read_once() {
    let rows = "[1,2,\"a\"],\n".repeat(100_000);
    assert_eq!(
        json(&format!("[{rows}[1,2,\"a\"]]")).map(|cases| cases.len()),
        Ok(100_001)
    );
    refused(
        json(&format!("[{rows}1]")),
        "src/shapes:100001: expected a list of objects or of lists",
    );
}

#[test]
fn mistakes_in_json_are_named_by_line() {
    refused(json(""), "src/shapes:1: expected a list of objects or of lists");
    refused(json("[]"), "src/shapes: there are no cases");
    refused(
        json("{\"m\": 1}"),
        "src/shapes:1: expected a list of objects or of lists",
    );
    refused(json("[\n 1]"), "src/shapes:2: expected a list of objects or of lists");
    refused(
        json("[\n{\"m\": 1,\n\"kind\": \"a\"}]"),
        "src/shapes:3: there is no key `gain`, only `m`, `kind`",
    );
    refused(
        json("[{\"m\": 1, \"m\": 1}]"),
        "src/shapes:1: the key `m` is there twice",
    );
    refused(
        json("[[1, 2]]"),
        "src/shapes:1: expected 3 values, for `m`, `gain`, `kind`; found 2",
    );
    refused(
        json("[[1, [2], \"a\"]]"),
        "src/shapes:1: a value is an object or a list",
    );
    refused(
        json("[\n[\"1\", 2, \"a\"]]"),
        "src/shapes:2: `\"1\"`, the value of `m`, is not a usize",
    );
    refused(
        json("[[1, 2, 3]]"),
        "src/shapes:1: `3`, the value of `kind`, is not a text",
    );
    refused(
        json("[[1, 2, \"a\"],]"),
        "src/shapes:1: expected a list of objects or of lists",
    );
    refused(json("[[1, 2, \"a\"]"), "src/shapes:1: expected `,` or `]`");
    refused(
        json("[[1, 2, \"a\"]] x"),
        "src/shapes:1: text after the end of the list",
    );
    refused(
        json("[[0x10, 2, \"a\"]]"),
        "src/shapes:1: `0x10` is not a value of JSON",
    );
    refused(
        json("[[1, 2, \"a\n\"]]"),
        "src/shapes:2: a string has no end on its line",
    );
    refused(
        json(r#"[[1, 2, "\ud800"]]"#),
        "src/shapes:1: invalid escape in a string",
    );
    let deep = format!("[{{\"x\": {}", "[".repeat(1_000_000));
    refused(
        json(&deep),
        "src/shapes:1: objects and lists are nested more than 64 deep",
    );
}

proptest! {
    #[test]
    fn no_text_makes_reading_panic(text in "[\\[\\]{}:,\"\\\\mgainkdu0-9a\n\u{20ac} .]{0,40}") {
        let _ = (csv(&text), json(&text), csv(&format!("m,gain,kind\n{text}")), json(&format!("[[1, 2, \"{text}")));
    }
}
