//! The text of a stored run: one JSON object, a line for each result, so that what changed can be seen in a diff.
//!
//! The field `sha256` is the SHA-256 digest of the whole file with the field's own digits as zeros. It tells an edited file from a written
//! one; it is no signature.

use std::ops::Range;

use sha2::{Digest, Sha256};

use super::StoredRun;
use gpubench_diagnostic::hexadecimal;

const DIGITS: usize = 64;
const FIELD: &[u8] = br#""sha256":""#;

/// The text of a run's file.
pub(super) fn text_of(stored: &StoredRun) -> serde_json::Result<Vec<u8>> {
    let StoredRun {
        format,
        format_version,
        saved_at,
        revision,
        run,
        results,
        finished,
    } = stored;
    let mut text = Vec::new();
    let mut line = |before: &str, value: &dyn Fn(&mut Vec<u8>) -> serde_json::Result<()>, after: &str| {
        text.extend_from_slice(before.as_bytes());
        value(&mut text)?;
        text.extend_from_slice(after.as_bytes());
        text.push(b'\n');
        serde_json::Result::Ok(())
    };
    line("{\"format\":", &|text| serde_json::to_writer(text, format), ",")?;
    line(
        "\"format_version\":",
        &|text| serde_json::to_writer(text, format_version),
        ",",
    )?;
    line(
        "\"sha256\":",
        &|text| serde_json::to_writer(text, &"0".repeat(DIGITS)),
        ",",
    )?;
    line("\"saved_at\":", &|text| serde_json::to_writer(text, saved_at), ",")?;
    line("\"revision\":", &|text| serde_json::to_writer(text, revision), ",")?;
    line("\"run\":", &|text| serde_json::to_writer(text, run), ",")?;
    line("\"results\":[", &|_| Ok(()), "")?;
    for (position, result) in results.iter().enumerate() {
        let comma = if position + 1 < results.len() { "," } else { "" };
        line("", &|text| serde_json::to_writer(text, result), comma)?;
    }
    line("],", &|_| Ok(()), "")?;
    line("\"finished\":", &|text| serde_json::to_writer(text, finished), "}")?;
    if let Some(digits) = digits_of(&text) {
        let digest = digest_of(&text, &digits);
        text[digits].copy_from_slice(digest.as_bytes());
    }
    Ok(text)
}

/// Whether a file's digest is that of its contents.
pub(super) fn is_as_written(text: &[u8]) -> bool {
    digits_of(text).is_some_and(|digits| digest_of(text, &digits).as_bytes() == &text[digits])
}

/// Where the digits of the digest are.
fn digits_of(text: &[u8]) -> Option<Range<usize>> {
    let field = text.windows(FIELD.len()).position(|window| window == FIELD)?;
    let begin = field + FIELD.len();
    (begin + DIGITS <= text.len()).then_some(begin..begin + DIGITS)
}

fn digest_of(text: &[u8], digits: &Range<usize>) -> String {
    let mut hash = Sha256::new();
    hash.update(&text[..digits.start]);
    hash.update([b'0'; DIGITS]);
    hash.update(&text[digits.end..]);
    hexadecimal(&hash.finalize())
}
