//! What the output of the macros calls the library.

use std::path::Path as FilePath;

use crate::options::value;
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::parse::ParseStream;
use syn::{Path, Result};

/// The package that has the library.
const PACKAGE: &str = "\"gpubench-runtime\"";

/// `crate = gb`.
pub(crate) fn parse(option: &Ident, input: ParseStream) -> Result<Path> {
    value(option, input, "crate = gb")
}

/// The library's path: the one that `crate = ..` says, or the name that the manifest gives it.
pub(crate) fn path(renamed: Option<&Path>) -> TokenStream {
    if let Some(path) = renamed {
        return quote!(#path);
    }
    let name = name_in_manifests().and_then(|name| syn::parse_str::<Ident>(&name.replace('-', "_")).ok());
    let name = name.unwrap_or_else(|| Ident::new("gpubench", Span::call_site()));
    quote!(::#name)
}

/// `items`, which name the library `__gpubench`, where they can stand beside any others.
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

/// Another name that the manifest of the package that is compiled, or of its workspace, gives the
/// library.
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

/// The name in front of `package = "gpubench-runtime"`, in the same line or in the table that it
/// stands in.
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

/// Whether a manifest has the package under its own name, and so the library.
fn has_its_own_name(manifest: &str) -> bool {
    let package = PACKAGE.trim_matches('"');
    manifest.lines().map(str::trim).any(|line| {
        let rest = line.strip_prefix(package).map(str::trim_start);
        rest.is_some_and(|rest| rest.starts_with(['.', '='])) || line.ends_with(&format!("dependencies.{package}]"))
    })
}

/// Whether a manifest takes a dependency of this name from its workspace.
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
    fn another_name_of_the_library_is_found_in_a_manifest() {
        let named = |text: &str| renamed_in(text);
        let gb = Some("gb".to_owned());
        assert_eq!(
            named("[dependencies]\ngb = { package = \"gpubench-runtime\", version = \"1\" }"),
            gb
        );
        assert_eq!(
            named("[dependencies.gb]\nversion = \"1\"\npackage = \"gpubench-runtime\""),
            gb
        );
        assert_eq!(
            named("[workspace.dependencies]\ngb={path=\"x\",package=\"gpubench-runtime\"}"),
            gb
        );
        assert_eq!(
            named("[dependencies]\ngpubench-runtime = \"1\"\nother = { package = \"another\" }"),
            None
        );
        assert_eq!(named("# gb = { package = \"gpubench-runtime\" }"), None);
    }

    #[test]
    fn the_packages_own_name_counts_before_another() {
        assert!(has_its_own_name("[dependencies]\ngpubench-runtime = \"1\""));
        assert!(has_its_own_name("[dependencies]\ngpubench-runtime.workspace = true"));
        assert!(has_its_own_name("[dev-dependencies.gpubench-runtime]\nversion = \"1\""));
        assert!(!has_its_own_name(
            "[dependencies]\ngb = { package = \"gpubench-runtime\" }"
        ));
    }

    #[test]
    fn a_name_of_the_workspace_counts_where_it_is_inherited() {
        assert!(inherits("[dependencies]\ngb.workspace = true", "gb"));
        assert!(inherits("[dependencies]\ngb = { workspace = true }", "gb"));
        assert!(inherits("[dependencies.gb]\nworkspace = true", "gb"));
        assert!(!inherits(
            "[dependencies]\ngbx.workspace = true\ngpubench-runtime = \"1\"",
            "gb"
        ));
    }
}
