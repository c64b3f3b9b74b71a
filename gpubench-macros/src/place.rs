//! The place of an attribute in its file.

use proc_macro2::Ident;
use syn::visit::{self, Visit};
use syn::{Error, Result};

/// Fails if the function is in an `impl` or a trait, as far as the file shows. A macro does not get
/// its context, and its output would not compile there.
pub(crate) fn reject_associated(attribute: &str, function: &Ident) -> Result<()> {
    let token = function.span().unwrap();
    let text = token.local_file().and_then(|path| std::fs::read_to_string(path).ok());
    let (line, column) = (token.start().line(), token.start().column());
    let text = text.filter(|text| is_inside_braces(text, line, column));
    let Some(file) = text.and_then(|text| syn::parse_file(&text).ok()) else {
        return Ok(());
    };
    let mut places = Places {
        function,
        free: false,
        associated: false,
    };
    places.visit_file(&file);
    if places.associated && !places.free {
        Err(Error::new(
            function.span(),
            format!("`{attribute}` cannot be used inside an `impl` or a trait: make `{function}` a free function"),
        ))
    } else {
        Ok(())
    }
}

/// Returns whether more braces open than close before a place. This is a cheap test before looking
/// at what they belong to.
fn is_inside_braces(text: &str, line: usize, column: usize) -> bool {
    let (above, same) = (text.lines().take(line - 1), text.lines().nth(line - 1));
    let before = same.unwrap_or_default().chars().take(column - 1);
    let all = above.flat_map(str::chars).chain(before);
    let depth = all.map(|c| i64::from(c == '{') - i64::from(c == '}'));
    depth.sum::<i64>() != 0
}

/// Records whether the functions of a name under an attribute of this library are free or
/// associated.
struct Places<'a> {
    function: &'a Ident,
    free: bool,
    associated: bool,
}

impl Places<'_> {
    fn is_it(&self, name: &Ident, attributes: &[syn::Attribute]) -> bool {
        let ours = |attribute: &syn::Attribute| {
            let last = attribute.path().segments.last();
            last.is_some_and(|last| last.ident == "gpubench" || last.ident == "problem")
        };
        name == self.function && attributes.iter().any(ours)
    }
}

impl<'ast> Visit<'ast> for Places<'_> {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.free |= self.is_it(&item.sig.ident, &item.attrs);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.associated |= self.is_it(&item.sig.ident, &item.attrs);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        self.associated |= self.is_it(&item.sig.ident, &item.attrs);
        visit::visit_trait_item_fn(self, item);
    }
}
