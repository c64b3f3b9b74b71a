//! The name of the library in the macros' output.

use std::path::Path as FilePath;

use crate::options::value;
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::ext::IdentExt as _;
use syn::parse::ParseStream;
use syn::{Attribute, Error, Path, Result};

/// Package of the library.
const PACKAGE: &str = "\"gpubench\"";

/// `crate = gb`.
pub(crate) fn parse(option: &Ident, input: ParseStream) -> Result<Path> {
    value(option, input, "crate = gb")
}

/// Returns the path in `#[NAME(crate = gb)]`, the attribute of a derive.
///
/// # Errors
/// The attribute says something else.
pub(crate) fn renamed_by(attributes: &[Attribute], name: &str) -> Result<Option<Path>> {
    let mut library = None;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident(name)) {
        library = Some(attribute.parse_args_with(|input: ParseStream| {
            let wrong = |span| Error::new(span, format!("expected `#[{name}(crate = gb)]`"));
            let option = input.call(Ident::parse_any).map_err(|error| wrong(error.span()))?;
            if option == "crate" {
                parse(&option, input)
            } else {
                Err(wrong(option.span()))
            }
        })?);
    }
    Ok(library)
}

/// Returns the library's path: from `crate = ..`, or else its name in the manifest.
pub(crate) fn path(renamed: Option<&Path>) -> TokenStream {
    if let Some(path) = renamed {
        return quote!(#path);
    }
    let name = name_in_manifests().and_then(|name| syn::parse_str::<Ident>(&name.replace('-', "_")).ok());
    let name = name.unwrap_or_else(|| Ident::new("gpubench", Span::call_site()));
    quote!(::#name)
}

/// Wraps `items`, which call the library `__gpubench`, so that they cannot conflict with others.
pub(crate) fn scope(renamed: Option<&Path>, items: &TokenStream) -> TokenStream {
    let path = path(renamed);
    quote! {
        #[allow(unused_qualifications)]
        const _: () = {
            use #path as __gpubench;
            #items
        };
    }
}

/// Returns the library's name if the manifest of the package, or of its workspace, renames it.
fn name_in_manifests() -> Option<String> {
    let root = std::env::var_os("CARGO_MANIFEST_DIR")?;
    let manifest = |folder: &FilePath| std::fs::read_to_string(folder.join("Cargo.toml")).ok();
    let root = FilePath::new(&root);
    let own = manifest(root)?;
    let of_workspace = || {
        let texts = root.ancestors().skip(1).filter_map(manifest);
        texts
            .filter_map(|text| renamed_in(&text))
            .find(|name| inherits(&own, name))
    };
    if has_its_own_name(&own) {
        return None;
    }
    renamed_in(&own).or_else(of_workspace)
}

/// Returns the name before `package = "gpubench"`: on the same line, or in the table
/// header.
fn renamed_in(manifest: &str) -> Option<String> {
    let mut table = "";
    for line in manifest.lines().map(str::trim).filter(|line| !line.starts_with('#')) {
        if let Some(header) = line.strip_prefix('[').and_then(|line| line.split(']').next()) {
            table = header.trim();
        }
        let compact: String = line.chars().filter(|c| !c.is_whitespace()).collect();
        if !compact.contains(&format!("package={PACKAGE}")) {
            continue;
        }
        return match compact.split_once("={") {
            Some((name, _)) => Some(name.trim_matches('"').to_owned()),
            None => table
                .rsplit_once("dependencies.")
                .map(|(_, name)| name.trim_matches('"').to_owned()),
        };
    }
    None
}

/// Returns whether a manifest uses the package without renaming it.
fn has_its_own_name(manifest: &str) -> bool {
    let package = PACKAGE.trim_matches('"');
    manifest.lines().map(str::trim).any(|line| {
        let rest = line.strip_prefix(package).map(str::trim_start);
        // A feature of this name is a list.
        let is_feature = |rest: &str| rest.trim_start_matches('=').trim_start().starts_with('[');
        rest.is_some_and(|rest| rest.starts_with(['.', '=']) && !is_feature(rest))
            || line.ends_with(&format!("dependencies.{package}]"))
    })
}

/// Returns whether a manifest inherits this dependency from its workspace.
fn inherits(manifest: &str, name: &str) -> bool {
    manifest.lines().map(str::trim).any(|line| {
        let rest = line.strip_prefix(name).map(str::trim_start);
        rest.is_some_and(|rest| rest.starts_with(['.', '=']) && rest.contains("workspace"))
            || line.ends_with(&format!("dependencies.{name}]"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_renamed_library_is_found_in_a_manifest() {
        let named = |text: &str| renamed_in(text);
        let gb = Some("gb".to_owned());
        assert_eq!(
            named("[dependencies]\ngb = { package = \"gpubench\", version = \"1\" }"),
            gb
        );
        assert_eq!(named("[dependencies.gb]\nversion = \"1\"\npackage = \"gpubench\""), gb);
        assert_eq!(
            named("[workspace.dependencies]\ngb={path=\"x\",package=\"gpubench\"}"),
            gb
        );
        assert_eq!(
            named("[dependencies]\ngpubench = \"1\"\nother = { package = \"another\" }"),
            None
        );
        assert_eq!(named("# gb = { package = \"gpubench\" }"), None);
    }

    #[test]
    fn the_packages_own_name_takes_precedence() {
        assert!(has_its_own_name("[dependencies]\ngpubench = \"1\""));
        assert!(has_its_own_name("[dependencies]\ngpubench.workspace = true"));
        assert!(has_its_own_name("[dev-dependencies.gpubench]\nversion = \"1\""));
        assert!(!has_its_own_name("[dependencies]\ngb = { package = \"gpubench\" }"));
    }

    #[test]
    fn a_name_from_the_workspace_applies_if_it_is_inherited() {
        assert!(inherits("[dependencies]\ngb.workspace = true", "gb"));
        assert!(inherits("[dependencies]\ngb = { workspace = true }", "gb"));
        assert!(inherits("[dependencies.gb]\nworkspace = true", "gb"));
        assert!(!inherits(
            "[dependencies]\ngbx.workspace = true\ngpubench = \"1\"",
            "gb"
        ));
    }
}
