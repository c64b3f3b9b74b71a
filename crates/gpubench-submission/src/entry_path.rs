//! Paths in a folder or tarball of a stranger.

use gpubench_diagnostic::is_printable;

/// Most bytes of a path, and of one of its parts.
const LONGEST: usize = 1024;
const LONGEST_PART: usize = 255;

/// Why a path is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum BadPath {
    #[error("it is absolute")]
    Absolute,
    #[error("it leaves the folder with `..`")]
    Outside,
    #[error("it is not UTF-8")]
    NotUtf8,
    #[error("it has a control character, an invisible character or `\\`")]
    Unprintable,
    #[error("it has more than {LONGEST} bytes, or more than {LONGEST_PART} between two `/`")]
    Long,
    #[error("it is empty")]
    Empty,
}

/// Returns a path without `.`, or `None` for the folder itself. It stays in the folder, whatever
/// the folder is.
pub(crate) fn inside(path: &[u8]) -> Result<Option<String>, BadPath> {
    let path = std::str::from_utf8(path).map_err(|_| BadPath::NotUtf8)?;
    if path.is_empty() {
        return Err(BadPath::Empty);
    }
    if path.starts_with('/') {
        return Err(BadPath::Absolute);
    }
    if path.len() > LONGEST {
        return Err(BadPath::Long);
    }
    if path.contains(['\\', '\n', '\t', '\u{2028}', '\u{2029}']) || !path.chars().all(is_printable) {
        return Err(BadPath::Unprintable);
    }
    let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    match parts.as_slice() {
        parts if parts.contains(&"..") => Err(BadPath::Outside),
        parts if parts.iter().any(|part| part.len() > LONGEST_PART) => Err(BadPath::Long),
        [] => Ok(None),
        parts => Ok(Some(parts.join("/"))),
    }
}

/// Returns the path that `relative` names from the folder of the file `from`, if it stays inside of
/// the whole folder. `from` is a path of [`inside`].
pub(crate) fn from_folder_of(from: &str, relative: &str) -> Option<String> {
    let folder = from.rsplit_once('/').map_or("", |(folder, _)| folder);
    joined(folder, relative)
}

/// Returns the path that `relative` names from a folder, if it stays inside of the whole folder.
pub(crate) fn joined(folder: &str, relative: &str) -> Option<String> {
    if relative.starts_with('/') {
        return None;
    }
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Makes a name of a stranger printable on one line, and not too long.
pub(crate) fn shown(name: &[u8]) -> String {
    let beginning = &name[..name.len().min(LONGEST_PART)];
    let more = if name.len() > LONGEST_PART { "…" } else { "" };
    let printable: String = String::from_utf8_lossy(beginning)
        .chars()
        .map(|letter| match letter {
            '\n' | '\t' | '\u{2028}' | '\u{2029}' => letter.escape_unicode().to_string(),
            letter if is_printable(letter) => letter.to_string(),
            letter => letter.escape_unicode().to_string(),
        })
        .collect();
    printable + more
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_in_the_folder_lose_their_dots() {
        for (path, expected) in [
            ("k.cu", Some("k.cu")),
            ("./src//a..b/k.cu", Some("src/a..b/k.cu")),
            ("src/", Some("src")),
            ("./", None),
        ] {
            assert_eq!(inside(path.as_bytes()), Ok(expected.map(str::to_owned)), "{path}");
        }
    }

    #[test]
    fn paths_out_of_the_folder_are_refused() {
        for (path, expected) in [
            ("", BadPath::Empty),
            ("..", BadPath::Outside),
            ("../x", BadPath::Outside),
            ("a/../../x", BadPath::Outside),
            ("a/..", BadPath::Outside),
            ("/etc/passwd", BadPath::Absolute),
            ("a\\..\\b", BadPath::Unprintable),
            ("a\0b", BadPath::Unprintable),
            ("a\nb", BadPath::Unprintable),
            ("a\x1b[2J", BadPath::Unprintable),
            ("a\u{202e}b", BadPath::Unprintable),
        ] {
            assert_eq!(inside(path.as_bytes()), Err(expected), "{path:?}");
        }
        assert_eq!(inside(b"a\xffb"), Err(BadPath::NotUtf8));
        assert_eq!(inside("x".repeat(256).as_bytes()), Err(BadPath::Long));
        assert_eq!(inside("x/".repeat(600).as_bytes()), Err(BadPath::Long));
    }

    #[test]
    fn a_relative_path_starts_in_the_folder_of_its_file() {
        let from = |file, relative| from_folder_of(file, relative);
        assert_eq!(from("src/k.cu", "tile.cuh").as_deref(), Some("src/tile.cuh"));
        assert_eq!(
            from("src/k.cu", "../include/./tile.cuh").as_deref(),
            Some("include/tile.cuh")
        );
        assert_eq!(from("k.cu", "../tile.cuh"), None);
        assert_eq!(from("src/k.cu", "a/../../../k.cu"), None);
        assert_eq!(from("k.cu", "/etc/passwd"), None);
    }

    #[test]
    fn a_shown_name_is_one_short_line() {
        assert_eq!(shown(b"a\nb\x1b[2J\xff"), "a\\u{a}b\\u{1b}[2J\u{fffd}");
        assert_eq!(shown(&[b'x'; 400]).chars().count(), LONGEST_PART + 1);
    }
}
