//! From which folder a library's code was built. Checkouts of one package may share a target
//! directory, and cargo then takes the one's library for the other's where the files look older;
//! the tool reads in a library which it has, without loading it.

/// Stands before the name of a package in a library.
pub const BEFORE_PACKAGE: &str = "\u{1}gpubench-built-in:";

/// Stands between the package's name and its folder, which another `\u{1}` ends.
pub const BEFORE_FOLDER: &str = "\u{2}";

/// The package that is being compiled and its folder, between marks that a library has nowhere
/// else.
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
