//! The options of `#[gpubench]` and `#[problem]`.

use crate::allow;
use crate::axes::{AxisList, AxisOption, reject_part_of_group};
use crate::comparison::Comparison;
use crate::counters::Counter;
use crate::grading::{Limits, Score};
use crate::hidden::Hidden;
use crate::launch::LaunchOption;
use crate::library;
use crate::reference::ReferenceOption;
use crate::requirements::Requirements;
use crate::settings::{self, SETTINGS};
use crate::types::Types;
use proc_macro2::{Ident, Span, TokenStream};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::{Error, Expr, Lit, LitStr, Path, Result, Token, parenthesized};

/// The attribute that options belong to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attribute {
    Gpubench,
    Problem,
}

/// Where the function under `#[gpubench]` runs, and what a call is.
#[derive(Clone, Default)]
pub(crate) enum Execution {
    /// In a process without a device, where it records launches.
    #[default]
    Sealed,
    /// In the worker, where it makes its calls itself.
    Hosted(Waiting),
    /// In a process without a device, where it declares a call of the library at this path.
    Library(Waiting, Box<Expr>),
}

/// Whether a call of host code may wait for the device.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Waiting {
    /// It queues its work on the tool's stream.
    #[default]
    Never,
    /// `sync`.
    Allowed,
}

/// Options as written, each at most once.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) axes: Vec<AxisOption>,
    pub(crate) types: Types,
    pub(crate) cpu: DeviceOptions,
    pub(crate) cuda: DeviceOptions,
    pub(crate) tensors: Option<Expr>,
    pub(crate) generate: Option<Expr>,
    pub(crate) launch: Option<LaunchOption>,
    pub(crate) reference: Option<ReferenceOption>,
    /// `check = function`, called with slices and answers.
    pub(crate) check: Option<Expr>,
    pub(crate) comparison: Option<Comparison>,
    pub(crate) reduction: Option<Expr>,
    pub(crate) bytes: Option<Expr>,
    pub(crate) flops: Option<Expr>,
    pub(crate) counters: Vec<Counter>,
    pub(crate) name: Option<LitStr>,
    pub(crate) settings: Vec<settings::Given>,
    pub(crate) ignore: Option<Span>,
    /// Names of the findings of `cargo gpubench lint` that `allow(..)` accepts.
    pub(crate) allowed: Vec<String>,
    pub(crate) execution: Execution,
    pub(crate) requirements: Requirements,
    pub(crate) problem: Option<Path>,
    pub(crate) hidden: Hidden,
    pub(crate) score: Score,
    pub(crate) limits: Limits,
    /// Path of the library, if it has another name.
    pub(crate) library: Option<Path>,
    /// Names of the options given, for errors about their combination.
    pub(crate) given: Vec<Ident>,
}

/// The overrides for one kind of device.
#[derive(Default)]
pub(crate) struct DeviceOptions {
    pub(crate) axes: Vec<AxisOption>,
    /// The word `reference` and its value.
    pub(crate) reference: Option<(Ident, ReferenceOption)>,
}

impl Options {
    pub(crate) fn parse(attribute: Attribute, tokens: TokenStream) -> Result<Options> {
        let parser = |input: ParseStream| {
            let mut options = Options::default();
            while !input.is_empty() {
                options.parse_option(attribute, input)?;
                comma(input)?;
            }
            options.check_reduction()?;
            for of_device in [&options.cpu.axes, &options.cuda.axes] {
                reject_part_of_group(&options.axes, of_device.iter().map(|axis| &axis.name))?;
            }
            reject_part_of_group(&options.axes, options.hidden.names())?;
            settings::reject_crossing(&options.settings)?;
            Ok(options)
        };
        parser.parse2(tokens)
    }

    fn parse_option(&mut self, attribute: Attribute, input: ParseStream) -> Result<()> {
        let option = input
            .call(Ident::parse_any)
            .map_err(|error| Error::new(error.span(), attribute.expectation()))?;
        let name = option.unraw().to_string();
        if !attribute.options().any(|(known, _)| known == name) {
            return Err(Error::new(option.span(), attribute.unknown(&name)));
        }
        if self.given.iter().any(|given| given.unraw() == name.as_str()) {
            return Err(Error::new(option.span(), format!("`{name}` is given twice")));
        }
        self.given.push(option.clone());
        if let Some(setting) = settings::named(&name) {
            self.settings.push(setting.parse(&option, input)?);
            return Ok(());
        }
        match name.as_str() {
            "axes" => AxisList::Axes.parse(&option, input, &mut self.axes)?,
            "cases" => AxisList::Cases.parse(&option, input, &mut self.axes)?,
            "types" => self.types = Types::parse(&option, input)?,
            "cpu" => self.cpu = DeviceOptions::parse(&option, input)?,
            "cuda" => self.cuda = DeviceOptions::parse(&option, input)?,
            "tensors" => self.tensors = Some(value(&option, input, "tensors = function")?),
            "generate" => self.generate = Some(value(&option, input, "generate = function(n)")?),
            "launch" => self.launch = Some(LaunchOption::parse(&option, input)?),
            "reference" => {
                let reference = ReferenceOption::parse(&option, input)?;
                if attribute == Attribute::Problem && !matches!(reference, ReferenceOption::Provider(_)) {
                    let message = "the function under `#[problem]` is the reference: only `reference = provider(..)`, a command, replaces it";
                    return Err(Error::new(option.span(), message));
                }
                self.reference = Some(reference);
            }
            "check" => self.check = Some(value(&option, input, "check = function")?),
            "bytes" => self.bytes = Some(value(&option, input, "bytes = 8 * n")?),
            "reduction" => self.reduction = Some(value(&option, input, "reduction = cols")?),
            "flops" => self.flops = Some(value(&option, input, "flops = 2 * n")?),
            "counters" => self.counters = Counter::parse_list(&option, input)?,
            "name" => self.name = Some(case_name(&option, input)?),
            "problem" => self.problem = Some(problem(&option, input)?),
            "hidden" => self.hidden = Hidden::parse(&option, input)?,
            "score" => self.score = Score::parse(&option, input)?,
            "limits" => self.limits = Limits::parse(&option, input)?,
            "crate" => self.library = Some(library::parse(&option, input)?),
            "ignore" => self.ignore = Some(option.span()),
            "allow" => self.allowed = allow::parse(&option, input)?,
            "hosted" => self.execution = Execution::parse_hosted(&option, input)?,
            "requires" => self.requirements = Requirements::parse(&option, input)?,
            "exact" => self.compare(&option, Comparison::Exact)?,
            "tolerance" => {
                let comparison = Comparison::parse_tolerance(&option, input)?;
                self.compare(&option, comparison)?;
            }
            _ => unreachable!("every known option is handled"),
        }
        Ok(())
    }

    fn compare(&mut self, option: &Ident, comparison: Comparison) -> Result<()> {
        if self.comparison.is_some() {
            return Err(Error::new(
                option.span(),
                "`exact` and `tolerance(..)` cannot be combined",
            ));
        }
        self.comparison = Some(comparison);
        Ok(())
    }

    /// Fails on a reduction and a tolerance, which the reduction would choose.
    fn check_reduction(&self) -> Result<()> {
        match (self.given("reduction"), &self.comparison) {
            (Some(reduction), Some(comparison)) => Err(Error::new(
                reduction.span(),
                format!("`reduction` chooses a tolerance: remove it, or `{comparison}`"),
            )),
            _ => Ok(()),
        }
    }

    /// Returns the option of this name as written.
    pub(crate) fn given(&self, name: &str) -> Option<&Ident> {
        self.given.iter().find(|given| given.unraw() == name)
    }
}

/// What can follow `hosted`.
const HOSTED: &str = "expected `hosted`, `hosted(sync)`, `hosted(library = path)` or `hosted(sync, library = path)`";

impl Execution {
    /// Parses what may follow `hosted`.
    fn parse_hosted(option: &Ident, input: ParseStream) -> Result<Execution> {
        let wrong = |span| Error::new(span, HOSTED);
        if input.peek(Token![=]) {
            return Err(wrong(input.span()));
        }
        if !input.peek(syn::token::Paren) {
            return Ok(Execution::Hosted(Waiting::Never));
        }
        let content = group(option, input, "hosted(sync)")?;
        if content.is_empty() {
            return Err(wrong(content.span()));
        }
        let (mut waiting, mut path) = (Waiting::Never, None);
        while !content.is_empty() {
            let word = content.call(Ident::parse_any).map_err(|error| wrong(error.span()))?;
            match word.to_string().as_str() {
                "sync" if waiting == Waiting::Never => waiting = Waiting::Allowed,
                "library" if path.is_none() => path = Some(library_path(&word, &content)?),
                _ => return Err(wrong(word.span())),
            }
            comma(&content)?;
        }
        Ok(match path {
            None => Execution::Hosted(waiting),
            Some(path) => Execution::Library(waiting, Box::new(path)),
        })
    }
}

/// Parses the path of a library: an expression, so that a build script can choose it.
fn library_path(word: &Ident, input: ParseStream) -> Result<Expr> {
    let path: Expr = value(word, input, "library = env!(\"SOLUTION\")")?;
    match &path {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Str(text) if text.value().is_empty() => {
                Err(Error::new(text.span(), "the path of a library cannot be empty"))
            }
            Lit::Str(_) => Ok(path),
            other => Err(Error::new(
                other.span(),
                "expected the path of a library, such as `\"libs/libfast.so\"` or `env!(\"SOLUTION\")`",
            )),
        },
        _ => Ok(path),
    }
}

/// Options that once had another name: the old one, and the one of today.
const RENAMED: [(&str, &str); 2] = [("inputs", "tensors"), ("sleep_after_run", "cooldown")];

impl Attribute {
    /// Returns the attribute's options, each with its syntax.
    fn options(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let (own, settings): (&[_], _) = match self {
            Attribute::Gpubench => (
                &[
                    ("axes", "axes(..)"),
                    ("cases", "cases(..)"),
                    ("types", "types(..)"),
                    ("tensors", "tensors = .."),
                    ("generate", "generate = .."),
                    ("launch", "launch = .."),
                    ("reference", "reference = .."),
                    ("check", "check = .."),
                    ("tolerance", "tolerance(..)"),
                    ("exact", "exact"),
                    ("reduction", "reduction = .."),
                    ("bytes", "bytes = .."),
                    ("flops", "flops = .."),
                    ("counters", "counters(..)"),
                    ("problem", "problem = .."),
                    ("name", "name = \"..\""),
                    ("allow", "allow(..)"),
                    ("ignore", "ignore"),
                    ("hosted", "hosted"),
                    ("hosted", "hosted(sync)"),
                    ("hosted", "hosted(library = ..)"),
                    ("requires", "requires(..)"),
                    ("cpu", "cpu(axes(..), cases(..), reference = ..)"),
                    ("cuda", "cuda(axes(..), cases(..), reference = ..)"),
                    ("crate", "crate = .."),
                ],
                SETTINGS,
            ),
            Attribute::Problem => (
                &[
                    ("axes", "axes(..)"),
                    ("cases", "cases(..)"),
                    ("types", "types(..)"),
                    ("tensors", "tensors = .."),
                    ("generate", "generate = .."),
                    ("reference", "reference = provider(..)"),
                    ("check", "check = .."),
                    ("tolerance", "tolerance(..)"),
                    ("exact", "exact"),
                    ("reduction", "reduction = .."),
                    ("bytes", "bytes = .."),
                    ("flops", "flops = .."),
                    ("counters", "counters(..)"),
                    ("allow", "allow(..)"),
                    ("requires", "requires(..)"),
                    ("cpu", "cpu(axes(..), cases(..), reference = ..)"),
                    ("cuda", "cuda(axes(..), cases(..), reference = ..)"),
                    ("hidden", "hidden(..)"),
                    ("score", "score = .."),
                    ("limits", "limits(..)"),
                    ("crate", "crate = .."),
                ],
                &SETTINGS[..0],
            ),
        };
        let settings = settings.iter().map(|setting| (setting.option, setting.written));
        own.iter().copied().chain(settings)
    }

    fn name(self) -> &'static str {
        match self {
            Attribute::Gpubench => "gpubench",
            Attribute::Problem => "problem",
        }
    }

    fn unknown(self, option: &str) -> String {
        if let Some((old, new)) = RENAMED.iter().find(|(old, _)| *old == option) {
            return format!("`{old}` is called `{new}` now");
        }
        match (self, option) {
            (Attribute::Problem, _) if Attribute::Gpubench.options().any(|(known, _)| known == option) => {
                format!("`{option}` is an option of `#[gpubench]`, not of `#[problem]`")
            }
            (Attribute::Gpubench, "hidden" | "score" | "limits") => {
                format!("`{option}` is an option of `#[problem]`, not of `#[gpubench]`")
            }
            _ => format!("unknown option `{option}`: {}", self.expectation()),
        }
    }

    fn expectation(self) -> String {
        let written: Vec<String> = self.options().map(|(_, written)| format!("`{written}`")).collect();
        format!("the options of `#[{}]` are {}", self.name(), written.join(", "))
    }
}

/// Parses the comma between options, or the end.
pub(crate) fn comma(input: ParseStream) -> Result<()> {
    if !input.is_empty() && !input.peek(Token![,]) {
        return Err(input.error("expected a comma"));
    }
    input.parse::<Option<Token![,]>>().map(drop)
}

/// Parses the parentheses after an option.
pub(crate) fn group<'a>(option: &Ident, input: ParseStream<'a>, written: &str) -> Result<syn::parse::ParseBuffer<'a>> {
    if !input.peek(syn::token::Paren) {
        return Err(Error::new(option.span(), format!("expected `{written}`")));
    }
    let content;
    parenthesized!(content in input);
    Ok(content)
}

/// Parses the value after an option's equals sign.
pub(crate) fn value<T: syn::parse::Parse>(option: &Ident, input: ParseStream, written: &str) -> Result<T> {
    let equals: Option<Token![=]> = input.parse()?;
    if equals.is_none() || input.is_empty() {
        return Err(Error::new(option.span(), format!("expected `{written}`")));
    }
    input.parse()
}

impl DeviceOptions {
    /// Parses the parentheses after `cpu` or `cuda`.
    fn parse(device: &Ident, input: ParseStream) -> Result<DeviceOptions> {
        let name = device.unraw();
        let written = format!("{name}(axes(width = [256]))");
        let content = group(device, input, &written)?;
        let wrong = |span| {
            Error::new(
                span,
                format!("expected `{written}` or `{name}(reference = launch(function))`"),
            )
        };
        let mut options = DeviceOptions::default();
        let mut given = Vec::new();
        if content.is_empty() {
            return Err(wrong(content.span()));
        }
        while !content.is_empty() {
            let option = content.call(Ident::parse_any).map_err(|error| wrong(error.span()))?;
            if given.contains(&option) {
                return Err(wrong(option.span()));
            }
            given.push(option.clone());
            match option.to_string().as_str() {
                "axes" => AxisList::Axes.parse(&option, &content, &mut options.axes)?,
                "cases" => AxisList::Cases.parse(&option, &content, &mut options.axes)?,
                "reference" => {
                    let reference = ReferenceOption::parse(&option, &content)?;
                    options.reference = Some((option, reference));
                }
                _ => return Err(wrong(option.span())),
            }
            comma(&content)?;
        }
        Ok(options)
    }
}

fn problem(option: &Ident, input: ParseStream) -> Result<Path> {
    let written = "problem = the_problem";
    value(option, input, written).map_err(|error| {
        Error::new(
            error.span(),
            format!("expected `{written}`, with the path of a `#[problem]`"),
        )
    })
}

fn case_name(option: &Ident, input: ParseStream) -> Result<LitStr> {
    let name: LitStr = value(option, input, "name = \"fused\"")?;
    let text = name.value();
    let allowed = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    if text.is_empty() || !text.chars().all(allowed) {
        return Err(Error::new(
            name.span(),
            "a name consists of letters, digits, `_` and `-`",
        ));
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_has_a_heading_in_the_documentation() {
        let page = include_str!("../../gpubench/doc/gpubench.md");
        for (name, _) in Attribute::Gpubench.options() {
            let heading = page
                .lines()
                .any(|line| line.starts_with("# ") && line.contains(&format!("`{name}")));
            assert!(heading, "{name}");
        }
    }
}
