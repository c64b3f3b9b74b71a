//! The attribute of a problem in the sources, and the numbers of its tolerance.

use std::ops::Range;

use camino::{Utf8Path, Utf8PathBuf};
use proc_macro2::{Delimiter, LineColumn, Span, TokenStream, TokenTree};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{FnArg, Item, Meta, Pat, Signature, Visibility};

/// Most files that are searched for a problem.
const MOST_FILES: usize = 2000;

/// An attribute in a file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Attribute {
    /// The file.
    pub(super) file: Utf8PathBuf,
    /// The file as the compiler names it.
    pub(super) shown: String,
    /// Its line, from 1.
    pub(super) line: u32,
    /// The numbers of `tolerance(..)`, if they are literals.
    pub(super) tolerance: Option<Numbers>,
    /// Those of single outputs, by name.
    pub(super) of_outputs: Vec<(String, Option<Numbers>)>,
}

/// The numbers of a tolerance. Each has its value and its bytes in the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Numbers {
    pub(super) rtol: Option<(f64, Range<usize>)>,
    pub(super) atol: Option<(f64, Range<usize>)>,
}

/// Returns the attribute that has the tolerance of a benchmark whose attribute is at `line` of
/// `file`: that one, or that of its problem. A benchmark that a macro makes has none.
pub(super) fn find_attribute(root: &Utf8Path, file: &str, line: u32) -> Option<Attribute> {
    // The compiler names files from the folder of the workspace.
    let base = root.ancestors().find(|folder| folder.join(file).is_file())?;
    let path = base.join(file);
    let source = Source::read(&path, file)?;
    let at_line = |attribute: &&syn::Attribute| attribute.span().start().line == line as usize;
    let functions = source.functions();
    let (function, attribute) = functions
        .iter()
        .find_map(|function| Some((function, function.attributes.iter().find(at_line)?)))?;
    match problem_of(attribute) {
        None => Some(source.attribute(function, attribute)),
        Some(problem) => {
            let mut found = source.problems(&problem);
            if found.is_empty() {
                found = elsewhere(root, base, &path, &problem)?;
            }
            // Of two with one name, nobody knows which is meant.
            found.pop().filter(|_| found.is_empty())
        }
    }
}

/// Returns the attributes of the problems of this name in other files of the package.
fn elsewhere(root: &Utf8Path, base: &Utf8Path, known: &Utf8Path, problem: &str) -> Option<Vec<Attribute>> {
    let files = glob::glob(root.join("**/*.rs").as_str()).ok()?;
    let files = files.flatten().filter_map(|path| Utf8PathBuf::from_path_buf(path).ok());
    let is_source =
        |path: &Utf8PathBuf| path != known && !path.strip_prefix(root).is_ok_and(|path| path.starts_with("target"));
    let found = files.filter(is_source).take(MOST_FILES).filter_map(|path| {
        let shown = path.strip_prefix(base).unwrap_or(&path).to_string();
        Some(Source::read(&path, &shown)?.problems(problem))
    });
    Some(found.flatten().collect())
}

/// Returns the last word of `problem = path`.
fn problem_of(attribute: &syn::Attribute) -> Option<String> {
    let value = value_of(&tokens_of(attribute)?, "problem")?;
    let last = value.into_iter().filter_map(|token| match token {
        TokenTree::Ident(name) => Some(name.to_string()),
        _ => None,
    });
    last.last().map(|name| name.trim_start_matches("r#").to_owned())
}

fn tokens_of(attribute: &syn::Attribute) -> Option<TokenStream> {
    match &attribute.meta {
        Meta::List(list) => Some(list.tokens.clone()),
        _ => None,
    }
}

/// Returns the tokens after `name =`, up to the comma.
fn value_of(tokens: &TokenStream, name: &str) -> Option<Vec<TokenTree>> {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let mut options = tokens.split(|token| matches!(token, TokenTree::Punct(comma) if comma.as_char() == ','));
    options.find_map(|option| match option {
        [TokenTree::Ident(word), TokenTree::Punct(equals), value @ ..] if *word == name && equals.as_char() == '=' => {
            Some(value.to_vec())
        }
        _ => None,
    })
}

/// A parsed file.
struct Source<'a> {
    path: &'a Utf8Path,
    shown: &'a str,
    text: String,
    file: syn::File,
}

/// The parts of a function that matter here.
struct Function {
    attributes: Vec<syn::Attribute>,
    signature: Signature,
}

impl Parse for Function {
    /// Parses a function without a body.
    fn parse(input: ParseStream<'_>) -> syn::Result<Function> {
        let attributes = input.call(syn::Attribute::parse_outer)?;
        input.parse::<Visibility>()?;
        let signature = input.parse()?;
        input.parse::<syn::Token![;]>()?;
        Ok(Function { attributes, signature })
    }
}

impl<'a> Source<'a> {
    fn read(path: &'a Utf8Path, shown: &'a str) -> Option<Source<'a>> {
        let text = fs_err::read_to_string(path).ok()?;
        let file = syn::parse_file(&text).ok()?;
        Some(Source {
            path,
            shown,
            text,
            file,
        })
    }

    fn functions(&self) -> Vec<Function> {
        fn within(items: &[Item], found: &mut Vec<Function>) {
            for item in items {
                match item {
                    Item::Fn(function) => found.push(Function {
                        attributes: function.attrs.clone(),
                        signature: function.sig.clone(),
                    }),
                    // A benchmark without a body.
                    Item::Verbatim(tokens) => found.extend(syn::parse2(tokens.clone()).ok()),
                    Item::Mod(module) => within(module.content.as_ref().map_or(&[], |(_, items)| items), found),
                    _ => {}
                }
            }
        }
        let mut found = Vec::new();
        within(&self.file.items, &mut found);
        found
    }

    /// Returns the attributes of the problems of this name.
    fn problems(&self, name: &str) -> Vec<Attribute> {
        let is_problem = |attribute: &&syn::Attribute| {
            let last = attribute.path().segments.last();
            last.is_some_and(|segment| segment.ident == "problem")
        };
        let functions = self.functions();
        let named = functions.iter().filter(|function| function.signature.ident == name);
        let found =
            named.filter_map(|function| Some(self.attribute(function, function.attributes.iter().find(is_problem)?)));
        found.collect()
    }

    fn attribute(&self, function: &Function, attribute: &syn::Attribute) -> Attribute {
        let of_outputs = function.signature.inputs.iter().filter_map(|parameter| {
            let FnArg::Typed(parameter) = parameter else {
                return None;
            };
            let Pat::Ident(name) = &*parameter.pat else { return None };
            let own = |word: &str| parameter.attrs.iter().find(|attribute| attribute.path().is_ident(word));
            let numbers = match (own("tolerance"), own("exact")) {
                (Some(attribute), _) => tokens_of(attribute).and_then(|tokens| self.numbers(&tokens)),
                (None, Some(_)) => None,
                (None, None) => return None,
            };
            Some((name.ident.to_string(), numbers))
        });
        Attribute {
            file: self.path.to_owned(),
            shown: self.shown.to_owned(),
            line: attribute.span().start().line as u32,
            tolerance: tokens_of(attribute).and_then(|tokens| self.numbers(&group_of(&tokens, "tolerance")?)),
            of_outputs: of_outputs.collect(),
        }
    }

    /// Returns the numbers in `rtol = .., atol = ..`. `None` if one is no literal.
    fn numbers(&self, tokens: &TokenStream) -> Option<Numbers> {
        let number = |name: &str| match value_of(tokens, name).as_deref() {
            None => Some(None),
            Some([TokenTree::Literal(literal)]) => {
                let range = self.bytes_of(literal.span())?;
                let value = value_of_literal(self.text.get(range.clone())?)?;
                Some(Some((value, range)))
            }
            Some(_) => None,
        };
        Some(Numbers {
            rtol: number("rtol")?,
            atol: number("atol")?,
        })
    }

    fn bytes_of(&self, span: Span) -> Option<Range<usize>> {
        let position = |LineColumn { line, column }| {
            let mut start = 0;
            for (number, text) in self.text.split_inclusive('\n').enumerate() {
                if number + 1 == line {
                    let text = text.char_indices().map(|(at, _)| at).chain([text.len()]);
                    return text.clone().nth(column).map(|at| start + at);
                }
                start += text.len();
            }
            None
        };
        Some(position(span.start())?..position(span.end())?)
    }
}

/// Returns the tokens in the parentheses after a word.
fn group_of(tokens: &TokenStream, name: &str) -> Option<TokenStream> {
    let tokens: Vec<TokenTree> = tokens.clone().into_iter().collect();
    tokens.windows(2).find_map(|pair| match pair {
        [TokenTree::Ident(word), TokenTree::Group(group)]
            if *word == name && group.delimiter() == Delimiter::Parenthesis =>
        {
            Some(group.stream())
        }
        _ => None,
    })
}

/// Returns the value of a literal: `1e-3`, `2.0_f64`, `5`.
pub(super) fn value_of_literal(text: &str) -> Option<f64> {
    let text = text.replace('_', "");
    text.trim_end_matches("f64").parse().ok()
}

impl Attribute {
    /// Whether an output has a tolerance of its own.
    pub(super) fn has_own(&self, output: &str) -> bool {
        self.of_outputs.iter().any(|(name, _)| name == output)
    }

    /// Returns the numbers that an output is compared with, if they are in the source as literals
    /// and are these.
    pub(super) fn numbers_of(&self, output: &str, (rtol, atol): (f64, f64)) -> Option<&Numbers> {
        let own = self.of_outputs.iter().find(|(name, _)| name == output);
        let numbers = match own {
            Some((_, numbers)) => numbers.as_ref()?,
            None => self.tolerance.as_ref()?,
        };
        let value = |number: &Option<(f64, Range<usize>)>| number.as_ref().map_or(0.0, |(value, _)| *value);
        // A tolerance that the function of the tensors states replaces the attribute's.
        (value(&numbers.rtol) == rtol && value(&numbers.atol) == atol).then_some(numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(text: &str, line: u32) -> (String, Option<Attribute>) {
        let folder = tempfile::tempdir().expect("a folder");
        let root = Utf8Path::from_path(folder.path()).expect("UTF-8");
        fs_err::create_dir(root.join("src")).expect("a folder");
        fs_err::write(root.join("src/lib.rs"), text).expect("written");
        (text.to_owned(), find_attribute(root, "src/lib.rs", line))
    }

    fn texts(text: &str, numbers: &Numbers) -> [Option<String>; 2] {
        [&numbers.rtol, &numbers.atol].map(|number| number.as_ref().map(|(_, range)| text[range.clone()].to_owned()))
    }

    #[test]
    fn the_numbers_of_a_benchmark_are_found_among_comments_and_wide_letters() {
        let (text, found) = find(
            "// ä\n#[gpubench(tensors = x, /* µ */ tolerance(rtol = 2e-2, /* why */ atol = 5_0.0e-3))]\nfn a() {}\n",
            2,
        );
        let found = found.expect("an attribute");
        let numbers = found.numbers_of("y", (2e-2, 5e-2)).expect("literals");
        assert_eq!(
            texts(&text, numbers),
            [Some("2e-2".to_owned()), Some("5_0.0e-3".to_owned())]
        );
        assert_eq!(found.numbers_of("y", (2e-2, 5e-3)), None);
    }

    #[test]
    fn a_benchmark_of_a_problem_leads_to_the_problem() {
        let text = "mod m {\n    #[problem(tolerance(atol = 1e-3))]\n    pub fn p(#[tolerance(rtol = 0.5)] z: &mut [f32]) {}\n}\n\
                    #[gpubench(problem = m::p, tensors = t)]\nfn a() {}\n";
        let (text, found) = find(text, 5);
        let found = found.expect("an attribute");
        assert_eq!(found.line, 2);
        let numbers = found.numbers_of("y", (0.0, 1e-3)).expect("literals");
        assert_eq!(texts(&text, numbers), [None, Some("1e-3".to_owned())]);
        let own = found.numbers_of("z", (0.5, 0.0)).expect("its own");
        assert_eq!(texts(&text, own), [Some("0.5".to_owned()), None]);
    }

    #[test]
    fn benchmarks_without_a_body_are_found() {
        let text = "mod m {\n    #[gpubench(problem = p, launch = K::k<<<1, 2>>>(x))]\n    pub fn b(x: In<f32>);\n}\n\
                    #[problem(tolerance(atol = 1e-3))]\nfn p() {}\n\
                    #[gpubench(tolerance(atol = 2e-3), launch = K::k<<<1, 2>>>(x))]\nfn c(#[tolerance(rtol = 0.5)] z: Out<f32>);\n";
        let (_, found) = find(text, 2);
        assert_eq!(found.expect("the problem's").line, 5);
        let (text, found) = find(text, 7);
        let found = found.expect("its own");
        let own = found.numbers_of("z", (0.5, 0.0)).expect("of the output");
        assert_eq!(texts(&text, own), [Some("0.5".to_owned()), None]);
    }

    #[test]
    fn files_of_a_member_are_named_from_the_workspace() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = Utf8Path::from_path(folder.path()).expect("UTF-8").join("member");
        fs_err::create_dir_all(root.join("src")).expect("a folder");
        fs_err::write(root.join("src/lib.rs"), "#[gpubench(problem = p::p)]\nfn a() {}\n").expect("written");
        fs_err::write(root.join("src/p.rs"), "#[problem()]\nfn p() {}\n").expect("written");
        let found = find_attribute(&root, "member/src/lib.rs", 1).expect("the problem's");
        assert_eq!((&*found.shown, found.line), ("member/src/p.rs", 1));
    }

    #[test]
    fn a_problem_whose_name_another_has_is_not_guessed() {
        let problem = "mod a {\n#[problem(tolerance(atol = 1e-3))]\nfn p() {}\n}\n";
        let other = "mod b {\n#[problem(tolerance(atol = 1e-3))]\nfn p() {}\n}\n";
        let benchmark = "#[gpubench(problem = b::p)]\nfn x() {}\n";
        assert_eq!(find(&[problem, other, benchmark].concat(), 9).1, None);
        assert!(find(&[problem, benchmark].concat(), 5).1.is_some());
    }

    #[test]
    fn expressions_and_generated_code_have_no_numbers() {
        let (_, found) = find("#[gpubench(tolerance(rtol = 2.0 * U))]\nfn a() {}\n", 1);
        assert_eq!(found.expect("an attribute").tolerance, None);
        assert_eq!(find("make!(a);\n", 1).1, None);
        assert_eq!(find("fn {\n", 1).1, None);
    }
}
