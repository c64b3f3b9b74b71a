//! The text of a stored run: one JSON object with one line per result, so that diffs are readable.
//!
//! The field `sha256` is the SHA-256 digest of the whole file, with its own digits set to zeros. It
//! detects an edited file. It is not a signature.

use std::ops::Range;

use sha2::{Digest, Sha256};

use super::StoredRun;
use gpubench_diagnostic::hexadecimal;

const DIGITS: usize = 64;
const FIELD: &[u8] = br#""sha256":""#;

/// Returns the text of a run's file.
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
    let head = [
        ("format", serde_json::to_string(format)?),
        ("format_version", serde_json::to_string(format_version)?),
        ("sha256", serde_json::to_string(&"0".repeat(DIGITS))?),
        ("saved_at", serde_json::to_string(saved_at)?),
        ("revision", serde_json::to_string(revision)?),
        ("run", serde_json::to_string(run)?),
    ];
    let head = head.map(|(field, value)| format!("\"{field}\":{value},\n")).concat();
    let mut text = format!("{{{head}\"results\":[").into_bytes();
    for (position, result) in results.iter().enumerate() {
        let between = if position == 0 { "\n" } else { ",\n" };
        text.extend_from_slice(between.as_bytes());
        serde_json::to_writer(&mut text, result)?;
    }
    text.extend_from_slice(b"\n],\n\"finished\":");
    serde_json::to_writer(&mut text, finished)?;
    text.extend_from_slice(b"}\n");
    if let Some(digits) = digits_of(&text) {
        let digest = digest_of(&text, &digits);
        text[digits].copy_from_slice(digest.as_bytes());
    }
    Ok(text)
}

/// Whether a file's digest matches its contents.
pub(super) fn is_as_written(text: &[u8]) -> bool {
    digits_of(text).is_some_and(|digits| digest_of(text, &digits).as_bytes() == &text[digits])
}

/// Returns the position of the digest's digits.
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
