//! Valid paths of an archive's entries.

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

/// Returns the path if it stays in the folder that the archive is unpacked to, whatever the folder
/// is.
pub(super) fn inside(path: &str) -> Option<Utf8PathBuf> {
    let path = Utf8Path::new(path);
    let plain = |component| matches!(component, Utf8Component::Normal(_));
    let is_inside = path.file_name().is_some() && path.components().all(plain) && !path.as_str().contains(['\0', '\\']);
    is_inside.then(|| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_in_the_folder_are_valid() {
        for path in ["manifest.json", "libraries/tidy/libtidy.so", "kernels/sm_90/0..1"] {
            assert_eq!(inside(path).as_deref(), Some(Utf8Path::new(path)));
        }
    }

    #[test]
    fn paths_out_of_the_folder_are_invalid() {
        for path in [
            "",
            ".",
            "..",
            "/etc/passwd",
            "../x",
            "a/../../x",
            "a/..",
            "./a",
            "a\\..\\b",
            "a\0b",
        ] {
            assert_eq!(inside(path), None, "{path:?}");
        }
    }
}
