//! Cases from files: `csv("shapes.csv")` and `json("shapes.json")`.
//!
//! The library reads them when it lists its axes: only the compiler knows the axes' types.

use crate::source_files::Package;
use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use std::path::Path;
use syn::spanned::Spanned;
use syn::{Error, Expr, ExprLit, Lit, LitStr, Result, Type};

/// Largest file.
const MOST_BYTES: u64 = 1 << 20;

/// A file that lists cases.
pub(crate) struct CaseFile {
    format: Format,
    path: LitStr,
}

#[derive(Clone, Copy)]
enum Format {
    Csv,
    Json,
}

impl CaseFile {
    /// Returns the file that an expression names, if it does.
    pub(crate) fn named_by(values: &Expr) -> Result<Option<CaseFile>> {
        let Expr::Call(call) = values else { return Ok(None) };
        let Expr::Path(function) = &*call.func else {
            return Ok(None);
        };
        let (format, name) = match function.path.get_ident() {
            Some(name) if name == "csv" => (Format::Csv, "csv"),
            Some(name) if name == "json" => (Format::Json, "json"),
            _ => return Ok(None),
        };
        let mut arguments = call.args.iter();
        match (arguments.next(), arguments.next()) {
            (
                Some(Expr::Lit(ExprLit {
                    lit: Lit::Str(path), ..
                })),
                None,
            ) => Ok(Some(CaseFile {
                format,
                path: path.clone(),
            })),
            _ => Err(Error::new(
                values.span(),
                format!("expected the path of a file, relative to this Rust file: `{name}(\"shapes.{name}\")`"),
            )),
        }
    }

    /// Returns an `Axis` with the file's values.
    pub(crate) fn tokens(&self, names: &[String], types: &[&Type]) -> Result<TokenStream> {
        let file = Package::of_the_compilation()?.one(&self.path)?;
        check(Path::new(&file.absolute)).map_err(|reason| {
            let message = format!("`{}` {reason}", file.inside);
            Error::new(self.path.span(), message)
        })?;
        let format = match self.format {
            Format::Csv => "Csv",
            Format::Json => "Json",
        };
        let format = Ident::new(format, self.path.span());
        let (inside, absolute) = (&file.inside, &file.absolute);
        // With `include_str!`, the compiler tracks the file as a dependency. The types are written
        // apart, since the compiler marks them if they are wrong.
        let cells = types.iter().map(|ty| quote!(__gpubench::__private::cell::<#ty>));
        Ok(quote_spanned! {self.path.span()=>
            __gpubench::__private::file_values(
                __gpubench::__private::CaseFormat::#format,
                #inside,
                ::core::include_str!(#absolute),
                &[#(#names),*],
                &[#(#cells),*],
            )
        })
    }
}

/// Checks that a file can be part of the library. Returns what it is or has instead.
fn check(path: &Path) -> std::result::Result<(), String> {
    let cannot = |error: std::io::Error| format!("cannot be read: {error}");
    let bytes = path.metadata().map_err(cannot)?.len();
    if bytes > MOST_BYTES {
        return Err(format!(
            "has {bytes} bytes; the limit for a list of cases is {MOST_BYTES}"
        ));
    }
    let contents = std::fs::read(path).map_err(cannot)?;
    std::str::from_utf8(&contents).map(drop).map_err(|error| {
        let before = &contents[..error.valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        format!("is not UTF-8 in line {line}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_too_large_or_not_text_is_refused() {
        let path = std::env::temp_dir().join(format!("gpubench-macros-cases-{}", std::process::id()));
        let check_of = |contents: &[u8]| {
            std::fs::write(&path, contents).expect("written");
            check(&path)
        };
        assert_eq!(check_of(b"m,n\n1,2\n"), Ok(()));
        assert_eq!(check_of(b"m,n\n1,\xff\n"), Err("is not UTF-8 in line 2".to_owned()));
        assert_eq!(
            check_of(&vec![b' '; (1 << 20) + 1]),
            Err("has 1048577 bytes; the limit for a list of cases is 1048576".to_owned())
        );
        std::fs::remove_file(&path).expect("removed");
    }
}
