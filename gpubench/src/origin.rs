//! The folder that a library's code was built from.
//!
//! Checkouts of one package may share a target directory. Cargo then reuses the library of another
//! checkout if the files look older. The tool reads the folder from the library's bytes, without
//! loading it, and so detects this.

/// Precedes the name of a package in a library.
pub const BEFORE_PACKAGE: &str = "\u{1}gpubench-built-in:";

/// Separates the package's name from its folder. Another `\u{1}` ends the folder.
pub const BEFORE_FOLDER: &str = "\u{2}";

/// The package being compiled and its folder, between markers that occur nowhere else in a library.
#[doc(hidden)]
#[macro_export]
macro_rules! __gpubench_origin {
    () => {
        ::core::concat!(
            "\u{1}gpubench-built-in:",
            ::core::env!("CARGO_PKG_NAME"),
            "\u{2}",
            ::core::env!("CARGO_MANIFEST_DIR"),
            "\u{1}"
        )
    };
}
