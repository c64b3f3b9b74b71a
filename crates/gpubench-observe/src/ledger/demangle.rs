//! Names of kernels as their authors wrote them.

use std::fmt::{self, Write};

use cpp_demangle::{DemangleOptions, Symbol};

/// The most bytes of a name that are kept. Names of templates can be endless.
pub(super) const LONGEST: usize = 1024;

/// Levels of nesting in a C++ name: deep enough for real templates, and little stack.
const DEEPEST: u32 = 128;

/// Returns the name as its author wrote it, of at most 1024 bytes. A name that is not mangled, or
/// that was cut, stays as it is.
pub fn demangled(mangled: &str) -> String {
    let name = rust(mangled).or_else(|| cpp(mangled));
    shortened(&name.unwrap_or_else(|| mangled.to_owned()))
}

/// Rust's names first: their older form is also a valid C++ name, with a hash at its end.
fn rust(mangled: &str) -> Option<String> {
    let name = rustc_demangle::try_demangle(mangled).ok()?;
    bounded(|out| write!(out, "{name:#}"))
}

fn cpp(mangled: &str) -> Option<String> {
    if !mangled.starts_with("_Z") {
        return None;
    }
    let symbol = Symbol::new(mangled).ok()?;
    let options = DemangleOptions::new().recursion_limit(DEEPEST);
    bounded(|out| symbol.structured_demangle(out, &options))
}

/// Writes a name, and stops where it is too long: a short mangled name can stand for a huge one.
fn bounded(write: impl FnOnce(&mut Bounded) -> fmt::Result) -> Option<String> {
    let mut out = Bounded(String::new());
    let written = write(&mut out);
    (written.is_ok() || out.0.len() > LONGEST).then_some(out.0)
}

struct Bounded(String);

impl Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.push_str(text);
        if self.0.len() > LONGEST {
            Err(fmt::Error)
        } else {
            Ok(())
        }
    }
}

/// Returns a text of at most [`LONGEST`] bytes, with `…` at the end if it was cut.
pub(super) fn shortened(text: &str) -> String {
    if text.len() <= LONGEST {
        return text.to_owned();
    }
    let mut end = LONGEST - '…'.len_utf8();
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &text[..end])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_of_cpp_and_rust_kernels_are_shown_as_they_were_written() {
        assert_eq!(
            demangled("_Z10vector_addPKfS0_Pfi"),
            "vector_add(float const*, float const*, float*, int)"
        );
        assert_eq!(
            demangled("_ZN2at6native29vectorized_elementwise_kernelILi4EfEEviT0_"),
            "void at::native::vectorized_elementwise_kernel<4, float>(int, float)"
        );
        assert_eq!(demangled("_ZN4gemm4tile17h0123456789abcdefE"), "gemm::tile");
        assert_eq!(demangled("_RNvC4gemm4tile"), "gemm::tile");
    }

    #[test]
    fn a_name_that_is_not_mangled_stays() {
        for name in ["nvjet_tst_128x256_64x4", "_Zebra", "", "axpy", "_Z10vector_ad"] {
            assert_eq!(demangled(name), name);
        }
    }

    #[test]
    fn a_short_name_that_stands_for_a_huge_one_is_cut() {
        // Each substitution doubles the name.
        let mut name = "_Z1fSt4pairIiiE".to_owned();
        for _ in 0..6 {
            name += "St4pairIS_S_E";
        }
        assert!(demangled(&name).len() <= LONGEST);
        assert!(demangled(&"n".repeat(5000)).ends_with("n…"));
    }

    proptest! {
        #[test]
        fn any_text_has_a_bounded_name(text in "(_Z|_R|_ZN)?[a-zA-Z0-9_]{0,60}") {
            prop_assert!(demangled(&text).len() <= LONGEST);
        }

        #[test]
        fn any_bytes_have_a_bounded_name(text in any::<String>()) {
            prop_assert!(demangled(&text).len() <= LONGEST);
        }
    }

    #[test]
    fn a_name_that_becomes_too_long_is_cut_where_it_is_readable() {
        let long = format!("_Z1100{}v", "a".repeat(1100));
        let name = demangled(&long);
        assert!(name.starts_with("aaa") && name.ends_with('…'), "{name}");
        assert_eq!(name.len(), LONGEST);
        assert_eq!(shortened(&"b".repeat(LONGEST)), "b".repeat(LONGEST));
    }
}
