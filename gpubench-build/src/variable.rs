//! The variable with a library's path.

use std::path::Path;

/// Returns the variable for a file of a folder: `SOLUTIONS_DOT_PRODUCT` for
/// `solutions/dot-product.cu`.
pub(crate) fn variable(folder: &Path, file: &Path) -> String {
    let parts = [folder.file_name(), file.file_stem()].map(|part| part.unwrap_or_default().to_string_lossy());
    parts
        .join("_")
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() {
                c.to_ascii_uppercase()
            } else {
                '_'
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_has_the_names_of_folder_and_file() {
        let of = |folder: &str, file: &str| variable(Path::new(folder), Path::new(file));
        assert_eq!(of("solutions", "solutions/dot-product.cu"), "SOLUTIONS_DOT_PRODUCT");
        assert_eq!(of("/a/b c/", "/a/b c/ünique.1.c"), "B_C__NIQUE_1");
    }
}
