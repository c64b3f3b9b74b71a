//! Translates a compiler's messages to the user's files and names.
//!
//! The compiler sees a generated unit, the shim and a temporary directory; the user knows only a
//! source and the names of kernels. Places in generated files are therefore removed, or replaced by
//! the place in the source that led there.

use std::fmt::Write as _;

use gpubench::catalog::Source;
use gpubench_declarations::DeclaredKernel;

use super::declared::{declared_kernels, kernels_in, makes_kernels_by_macros};
use super::error::KernelBuildError;
use super::missing_header::missing_header;
use super::scratch::Scratch;
use super::unit::{NVCC_UNIT, UNIT, name_place};
use gpubench_diagnostic::in_backticks;

/// Placeholder for the directory of the shim.
const SHIM: &str = "<shim>/";

/// Compiler messages for a name that does not select one function.
const NO_SINGLE_FUNCTION: &[&str] = &[
    "unable to deduce 'const auto'",
    "no matches converting function",
    "overloaded function",
    "cannot determine which instance",
    "no instance of function template",
    "no instance of overloaded function",
];

/// Compiler messages for template arguments after the name of a plain function.
const ARGUMENTS_OF_NO_TEMPLATE: &[&str] = &[
    "comparison between pointer and integer",
    "is not a template",
    "expected primary-expression",
    "type name is not allowed",
    "operand types are incompatible",
];

/// Why parts of a source may be missing.
const BY_ARCHITECTURE: &str = "code under `#if __CUDA_ARCH__` exists only for some architectures; for the CPU device, define the macro \
                               with an option such as `-D__CUDA_ARCH__=800`";

/// Returns an error for the first kernel in the messages that the source does not declare.
pub(super) fn unknown_kernel(source: &Source, names: &[String], diagnostics: &str) -> Option<KernelBuildError> {
    let defined = declared_kernels(source);
    let is_missing = |name: &&String| {
        let base = base_name(name);
        !defined
            .iter()
            .any(|known| known == base || known.ends_with(&format!("::{base}")))
            && diagnostics.contains(&name_place(name))
    };
    let name = names.iter().find(is_missing)?;
    let (source_name, by_macros) = (&source.name, makes_kernels_by_macros(source));
    let known = if by_macros && defined.is_empty() {
        format!("`{source_name}` defines its kernels with macros")
    } else {
        defines(source_name, &defined)
    };
    // If no kernel is listed, the message already mentions macros.
    let unlisted = (by_macros && !defined.is_empty()).then_some("kernels that macros define are not listed");
    let by_architecture = source.files.iter().any(|file| file.text().contains("__CUDA_ARCH__"));
    let doubts: Vec<&str> = unlisted
        .into_iter()
        .chain(by_architecture.then_some(BY_ARCHITECTURE))
        .collect();
    let hint = if doubts.is_empty() {
        String::new()
    } else {
        format!(" (hint: {})", doubts.join("; "))
    };
    Some(KernelBuildError::UnknownKernel(format!(
        "unknown kernel `{name}`; {known}{hint}"
    )))
}

/// Describes the kernels that a source defines.
pub(super) fn defines(source_name: &str, kernels: &[String]) -> String {
    match kernels {
        [] => format!("`{source_name}` defines no kernel"),
        _ => format!("`{source_name}` defines {}", in_backticks(kernels)),
    }
}

/// Returns the messages that concern the user, each once.
pub(super) fn readable(source: &Source, scratch: &Scratch, diagnostics: &str) -> String {
    let text = without_directories(scratch, diagnostics);
    let kernels = kernels_in(source);
    let (mut shown, mut generated): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    let mut places: Vec<String> = Vec::new();
    let mut has_error = false;
    for message in messages(&text) {
        if message.severity == "note" {
            let rendered = message.rendered();
            if has_error && origin(message.place.path) == Origin::User && !shown.contains(&rendered) {
                shown.push(rendered);
            }
            continue;
        }
        let rendered = match origin(message.place.path) {
            Origin::User => Some(with_header(&message)),
            Origin::Name(name) => Some(about_name(name, message.text, &kernels)),
            Origin::Generated => message.place_of_user().map(|place| message.moved_to(place)),
        };
        let Some(rendered) = rendered else {
            generated.push(format!("error: {}", message.text));
            has_error = false;
            continue;
        };
        // Further messages about a name follow from the first.
        let place = match origin(message.place.path) {
            Origin::Name(_) => message.place.path.to_owned(),
            _ => rendered.clone(),
        };
        has_error = !places.contains(&place);
        if has_error {
            places.push(place);
            shown.push(rendered);
        }
    }
    if shown.is_empty() {
        generated.dedup();
        shown = generated;
    }
    if shown.is_empty() {
        text.trim_end().to_owned()
    } else {
        shown.join("\n")
    }
}

/// Returns a message, with the header that the source may have forgotten.
fn with_header(message: &Message<'_>) -> String {
    let (rendered, text) = (message.rendered(), message.text);
    match missing_header(text) {
        Some(header) => rendered.replacen(text, &format!("{text} (hint: add `#include <{header}>`)"), 1),
        None => rendered,
    }
}

/// Returns the messages about a whole source that are also about a part of it, or all of them if
/// the part has errors of its own.
pub(super) fn narrowed(whole: KernelBuildError, part: KernelBuildError) -> KernelBuildError {
    match (whole, part) {
        (
            KernelBuildError::Compile {
                source_name,
                target,
                diagnostics,
            },
            KernelBuildError::Compile { diagnostics: some, .. },
        ) => KernelBuildError::Compile {
            diagnostics: common(&diagnostics, &some).unwrap_or(diagnostics),
            source_name,
            target,
        },
        (_, part) => part,
    }
}

/// Returns those of the readable messages that are also in `others`, whose columns may differ.
/// `None` if `others` has further errors.
fn common(readable: &str, others: &str) -> Option<String> {
    let (ours, theirs) = (messages(readable), messages(others));
    let errors = |messages: &[Message<'_>]| messages.iter().filter(|message| message.severity != "note").count();
    let is_known = |message: &Message<'_>, among: &[Message<'_>]| among.iter().any(|other| other.is_like(message));
    if errors(&theirs) == 0
        || !theirs
            .iter()
            .all(|their| their.severity == "note" || is_known(their, &ours))
    {
        return None;
    }
    let mut is_kept = false;
    let mut kept = Vec::new();
    for message in &ours {
        if message.severity != "note" {
            is_kept = is_known(message, &theirs);
        }
        if is_kept {
            kept.push(message.rendered());
        }
    }
    Some(kept.join("\n"))
}

/// Makes paths relative to the crate's root.
fn without_directories(scratch: &Scratch, text: &str) -> String {
    let directory = |path: &std::path::Path| format!("{}/", path.display());
    text.replace(&directory(&scratch.shim()), SHIM)
        .replace(&directory(scratch.root()), "")
        .replace(&directory(scratch.directory()), "")
}

/// The author of the text at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin<'a> {
    User,
    /// The user, in a name expression.
    Name(&'a str),
    Generated,
}

fn origin(path: &str) -> Origin<'_> {
    if let Some(name) = path.strip_prefix("kernel `") {
        return Origin::Name(name.trim_end_matches('`'));
    }
    if path.starts_with(SHIM) || path == UNIT || path == NVCC_UNIT {
        Origin::Generated
    } else {
        Origin::User
    }
}

/// Returns a message about a name expression, with the place where its kernel is declared.
fn about_name(name: &str, text: &str, kernels: &[DeclaredKernel]) -> String {
    let base = base_name(name);
    let kernel = kernels
        .iter()
        .find(|kernel| kernel.name == base || kernel.name.ends_with(&format!("::{base}")));
    let Some(kernel) = kernel else {
        return format!("kernel `{name}`: error: {text}");
    };
    let place = format!("{}:{}", kernel.file, kernel.line);
    let is_about_arguments = ARGUMENTS_OF_NO_TEMPLATE.iter().any(|words| text.contains(words));
    if name.contains('<') && !kernel.is_template && is_about_arguments {
        return format!("{place}: error: kernel `{name}`: it is not a template: write `{base}`");
    }
    if !NO_SINGLE_FUNCTION.iter().any(|words| text.contains(words)) {
        return format!("kernel `{name}`: error: {text}\n{place}: note: `{base}` is declared here");
    }
    let problem = match (kernel.is_template, name.contains('<')) {
        (true, true) => "the template arguments match no declaration or more than one".to_owned(),
        (true, false) => format!("it is a template: give its arguments, as in `{name}<…>`"),
        (false, true) => "it is not a template, and its name is overloaded".to_owned(),
        (false, false) => "its name is overloaded, for example by a C library function; rename the kernel".to_owned(),
    };
    format!("{place}: error: kernel `{name}`: {problem}")
}

/// Returns a name expression without its template arguments.
fn base_name(expression: &str) -> &str {
    expression
        .split('<')
        .next()
        .unwrap_or(expression)
        .trim()
        .trim_start_matches("&")
        .trim_start_matches("::")
}

/// A place in `file:line:column:`.
#[derive(Clone, Copy, Debug)]
struct Place<'a> {
    path: &'a str,
    /// Line and column if present, each with a colon before it.
    numbers: &'a str,
}

/// A message with its context lines before it and the source excerpt after it.
#[derive(Debug)]
struct Message<'a> {
    context: Vec<(Place<'a>, &'a str)>,
    place: Place<'a>,
    severity: &'a str,
    text: &'a str,
    excerpt: Vec<&'a str>,
}

impl Message<'_> {
    /// Returns whether two messages say the same about the same line.
    fn is_like(&self, other: &Message<'_>) -> bool {
        let line = |place: Place<'_>| place.numbers.split(':').nth(1).map(str::to_owned);
        self.text == other.text && self.place.path == other.place.path && line(self.place) == line(other.place)
    }

    /// Returns the innermost place in the user's code that led to generated code.
    fn place_of_user(&self) -> Option<Place<'_>> {
        let mut places = self.context.iter().filter(|(_, what)| what.contains("required"));
        places
            .find(|(place, _)| origin(place.path) != Origin::Generated)
            .map(|(place, _)| *place)
    }

    /// Returns the message at a place in the user's code, without the excerpt of the original
    /// place.
    fn moved_to(&self, place: Place<'_>) -> String {
        let numbers = match origin(place.path) {
            Origin::Name(_) => "",
            _ => place.numbers,
        };
        let context = self.rendered_context();
        format!("{context}{}{numbers}: {}: {}", place.path, self.severity, self.text)
    }

    fn rendered(&self) -> String {
        let Place { path, numbers } = self.place;
        let mut text = self.rendered_context();
        let _ = write!(text, "{path}{numbers}: {}: {}", self.severity, self.text);
        for line in &self.excerpt {
            text.push('\n');
            text.push_str(line);
        }
        text
    }

    /// Returns the places in the user's code that led to the message, one per line.
    fn rendered_context(&self) -> String {
        let mut lines: Vec<String> = Vec::new();
        for (place, what) in &self.context {
            let line = match origin(place.path) {
                Origin::User => format!("{}{}:{what}\n", place.path, place.numbers),
                Origin::Name(_) => format!("{}:   required from here\n", place.path),
                Origin::Generated => continue,
            };
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        lines.concat()
    }
}

const SEVERITIES: &[&str] = &["error", "fatal error", "internal compiler error", "note"];

fn messages(text: &str) -> Vec<Message<'_>> {
    let mut messages: Vec<Message<'_>> = Vec::new();
    let mut context = Vec::new();
    for line in text.lines() {
        if line.starts_with("In file included from ") || line.trim_start().starts_with("from ") {
            continue;
        }
        let Some((place, rest)) = split_place(line) else {
            if let (Some(message), true) = (messages.last_mut(), line.starts_with(' ')) {
                message.excerpt.push(line);
            }
            continue;
        };
        let head = SEVERITIES
            .iter()
            .find_map(|severity| Some((*severity, rest.trim_start().strip_prefix(severity)?.strip_prefix(": ")?)));
        match head {
            Some((severity, text)) => messages.push(Message {
                context: std::mem::take(&mut context),
                place,
                severity,
                text: text.trim_start(),
                excerpt: Vec::new(),
            }),
            None => context.push((place, rest)),
        }
    }
    messages
}

/// Splits a line into the place at its beginning and the rest. Lines of an excerpt begin with a
/// space.
fn split_place(line: &str) -> Option<(Place<'_>, &str)> {
    if line.starts_with(char::is_whitespace) {
        return None;
    }
    // A name expression can contain colons.
    let end = match line.strip_prefix("kernel `") {
        Some(name) => name.find("`:")? + "kernel ``".len(),
        None => line.find(':')?,
    };
    let (path, mut rest) = (line[..end].trim_start_matches("./"), &line[end..]);
    let after = rest;
    let mut numbers = 0;
    while let Some(next) = rest.strip_prefix(':') {
        let digits = next
            .find(|character: char| !character.is_ascii_digit())
            .unwrap_or(next.len());
        if digits == 0 {
            break;
        }
        numbers += 1 + digits;
        rest = &next[digits..];
    }
    let place = Place {
        path,
        numbers: &after[..numbers],
    };
    Some((place, rest.strip_prefix(':')?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_the_errors_of_a_source_those_of_a_part_are_kept() {
        let whole = "a.cu:3:5: error: `x` is unknown\na.cu:4:1: note: in `f`\na.cu:9:1: error: `x` is unknown\n\
                     a.cu:9:8: note: in `g`\nb.cu:9:1: error: `x` is unknown";
        assert_eq!(
            common(whole, "a.cu:9:2: error: `x` is unknown").as_deref(),
            Some("a.cu:9:1: error: `x` is unknown\na.cu:9:8: note: in `g`")
        );
        assert_eq!(common(whole, "a.cu:9:1: error: `y` is unknown"), None, "of its own");
        assert_eq!(common(whole, "a.cu:9:1: note: in `g`"), None, "no error");
    }
}
