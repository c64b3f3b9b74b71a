//! Generates `../src/bindings.rs` from `../include/gb_harness.h`. It needs libclang. `--check` only
//! checks that the file is current.
//!
//! This package is a separate workspace: it must build even if the bindings do not fit the crate,
//! and nothing else needs bindgen.

use std::path::Path;
use std::process::ExitCode;

#[allow(dead_code)]
#[path = "../../tests/drift/checksum.rs"]
mod checksum;

fn main() -> ExitCode {
    let Some(root) = Path::new(env!("CARGO_MANIFEST_DIR")).parent() else { return ExitCode::FAILURE };
    let target = root.join("src/bindings.rs");
    let current = generated(root);
    match std::env::args().nth(1).as_deref() {
        Some("--check") => {
            if std::fs::read_to_string(&target).is_ok_and(|text| text == current) {
                ExitCode::SUCCESS
            } else {
                eprintln!("error: `{}` is not what bindgen makes of the header", target.display());
                eprintln!("help: run `kernels/harness/regenerate.sh`");
                ExitCode::FAILURE
            }
        }
        Some(other) => {
            eprintln!("error: unknown argument `{other}`; the only one is `--check`");
            ExitCode::from(2)
        }
        None => match std::fs::write(&target, current) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("error: `{}` could not be written: {error}", target.display());
                ExitCode::FAILURE
            }
        },
    }
}

fn generated(root: &Path) -> String {
    let include = format!("-I{}", root.join("include").display());
    bindgen::Builder::default()
        .header(root.join("include/gb_harness.h").display().to_string())
        .clang_arg(include)
        .allowlist_file(".*gb_harness\\.h")
        .rust_target(bindgen::RustTarget::stable(89, 0).expect("a version of Rust that bindgen knows"))
        .rust_edition(bindgen::RustEdition::Edition2024)
        .parse_callbacks(Box::new(IndicesAreWide))
        .default_enum_style(bindgen::EnumVariation::Consts)
        .prepend_enum_name(false)
        .derive_default(true)
        .derive_partialeq(true)
        .use_core()
        .formatter(bindgen::Formatter::Prettyplease)
        .disable_header_comment()
        .raw_line("//! The structs the harness kernels share with the tool, made by bindgen from `include/gb_harness.h`.")
        .raw_line("//! Change the header, then run `regenerate.sh`.")
        .raw_line("")
        .raw_line(format!("// header: {}", checksum::of_files(root, &["include/gb_harness.h"])))
        .raw_line("#![allow(missing_docs, non_camel_case_types, clippy::unreadable_literal, clippy::manual_c_str_literals)]")
        .generate()
        .expect("the header parses, and libclang is there (LIBCLANG_PATH names its directory)")
        .to_string()
}

/// C macros have no type. The only macro here is an index.
#[derive(Debug)]
struct IndicesAreWide;

impl bindgen::callbacks::ParseCallbacks for IndicesAreWide {
    fn int_macro(&self, _name: &str, _value: i64) -> Option<bindgen::callbacks::IntKind> {
        Some(bindgen::callbacks::IntKind::U64)
    }
}
