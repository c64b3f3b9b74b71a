//! The option `allow(..)`: findings of `cargo gpubench lint` that an author accepts.

use crate::options::{comma, group};
use proc_macro2::Ident;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Error, Result};

const WRITTEN: &str = "allow(rounded_inputs)";

/// Parses the names. The tool knows which exist.
pub(crate) fn parse(option: &Ident, input: ParseStream) -> Result<Vec<String>> {
    let content = group(option, input, WRITTEN)?;
    if content.is_empty() {
        return Err(Error::new(
            option.span(),
            format!("expected a finding, as in `{WRITTEN}`"),
        ));
    }
    let mut names: Vec<String> = Vec::new();
    while !content.is_empty() {
        let expected = |error: Error| Error::new(error.span(), format!("expected a finding, as in `{WRITTEN}`"));
        let name = content.call(Ident::parse_any).map_err(expected)?;
        let text = name.unraw().to_string();
        if names.contains(&text) {
            return Err(Error::new(name.span(), format!("`{text}` is given twice")));
        }
        names.push(text);
        comma(&content)?;
    }
    Ok(names)
}
