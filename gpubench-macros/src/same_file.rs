//! Parameters of functions in the file of an attribute. A macro receives only the name of a
//! generator or reference, and the compiler checks only types. So parameters of one type in another
//! order are found by their names, where the function is in the same file.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use std::fs::read_to_string;
use syn::ext::IdentExt;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{FnArg, Pat, Token};

/// Returns the parameters' names of the only function `name` in the file that contains `span`.
/// `None` if the file is unknown or has no such function, or several.
pub(crate) fn parameters_of(name: &Ident, span: Span) -> Option<Vec<String>> {
    // Outside a macro there is no file.
    let file = proc_macro::is_available().then(|| span.unwrap().local_file())??;
    let text = read_to_string(file).ok()?;
    // Most functions are elsewhere. Reading tokens takes longer than a search.
    if !text.contains(&format!("fn {name}")) {
        return None;
    }
    only_function(&text, &name.to_string())
}

fn only_function(text: &str, name: &str) -> Option<Vec<String>> {
    let mut found = Vec::new();
    collect_functions(text.parse().ok()?, name, &mut found);
    match &found[..] {
        [parameters] => names(parameters.stream()),
        _ => None,
    }
}

/// Collects the parameters of every function `name`, at any depth.
fn collect_functions(tokens: TokenStream, name: &str, found: &mut Vec<Group>) {
    let mut after_fn = false;
    let mut tokens = tokens.into_iter();
    while let Some(token) = tokens.next() {
        match &token {
            TokenTree::Ident(word) if after_fn && word == name => found.extend(tokens.by_ref().find_map(parameters)),
            TokenTree::Group(group) => collect_functions(group.stream(), name, found),
            _ => {}
        }
        after_fn = matches!(&token, TokenTree::Ident(word) if word == "fn");
    }
}

/// Returns the parentheses after a function's name and its generic parameters.
fn parameters(token: TokenTree) -> Option<Group> {
    match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis => Some(group),
        _ => None,
    }
}

/// Returns the name of each parameter, without the underscore of an unused one. A pattern has none.
fn names(parameters: TokenStream) -> Option<Vec<String>> {
    let parameters = Punctuated::<FnArg, Token![,]>::parse_terminated
        .parse2(parameters)
        .ok()?;
    let name = |parameter: &FnArg| match parameter {
        FnArg::Typed(typed) => match &*typed.pat {
            Pat::Ident(pattern) => pattern.ident.unraw().to_string().trim_start_matches('_').to_owned(),
            _ => String::new(),
        },
        FnArg::Receiver(_) => String::new(),
    };
    let is_method = parameters
        .iter()
        .any(|parameter| matches!(parameter, FnArg::Receiver(_)));
    (!is_method).then(|| parameters.iter().map(name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parameters_of_a_function_are_found_at_any_depth() {
        let text =
            "mod a { pub fn f<const N: usize>(r#type: u32, _rows: [u8; 2], (x, y): (u8, u8)) {} } fn g(f: fn(u8)) {}";
        let expected = ["type", "rows", ""].map(str::to_owned);
        assert_eq!(only_function(text, "f").as_deref(), Some(&expected[..]));
        assert_eq!(only_function(text, "g"), Some(vec!["f".to_owned()]));
    }

    #[test]
    fn comments_and_strings_are_no_functions() {
        let text = "// fn f(a: u8) {}\nconst A: &str = \"fn f(a: u8) {}\"; fn f(b: u8) {}";
        assert_eq!(only_function(text, "f"), Some(vec!["b".to_owned()]));
    }

    #[test]
    fn no_function_and_several_of_one_name_are_unknown() {
        assert_eq!(only_function("fn g() {}", "f"), None);
        assert_eq!(only_function("fn f(a: u8) {} mod b { fn f(b: u8) {} }", "f"), None);
        assert_eq!(only_function("fn f(", "f"), None);
        assert_eq!(only_function("impl A { fn f(&self, a: u8) {} }", "f"), None);
    }
}
