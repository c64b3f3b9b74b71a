//! Fields of comma-separated values (RFC 4180).

use crate::printable_line;

/// Returns untrusted text as a field. It stays on one line, because a CI log can take the start of
/// a line for a command.
pub fn csv_text(text: &str) -> String {
    csv_field(&inert(&printable_line(text)))
}

/// Returns a field, quoted if it contains a separator or a quote.
pub fn csv_field(field: &str) -> String {
    if field.contains([',', ';', '"', '\'']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}

/// Returns the text so that no spreadsheet takes it for a formula: prefixed with an apostrophe if
/// it starts like one (OWASP, "CSV Injection").
fn inert(text: &str) -> String {
    let begins_like_a_formula = text
        .trim_start()
        .starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']);
    if begins_like_a_formula {
        format!("'{text}")
    } else {
        text.to_owned()
    }
}
