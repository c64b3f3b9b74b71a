//! Mistakes in a description, with their places.

use gpubench_diagnostic::{ExitCode, Expected, closest, printable_line, suggestion};

use crate::expression::ExpressionError;
use crate::name::NotAName;
use crate::number_type::Unfit;
use crate::position::Position;

/// A mistake in a description.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{at}: {what}")]
pub struct Mistake {
    /// Where it is.
    pub at: Position,
    /// What it is.
    pub what: Box<What>,
}

/// What is wrong in a description.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum What {
    #[error("{}", printable_line(.0))]
    Syntax(String),
    #[error("a description has at most {most} bytes")]
    Long { most: usize },
    #[error("{table} has no key `{}`{}", shown(.key), suggestion(closest(.key, .known.iter().copied())))]
    Key {
        table: String,
        key: String,
        known: &'static [&'static str],
    },
    #[error("`{key}` is {found}, but {wanted} is expected")]
    Kind {
        key: String,
        found: &'static str,
        wanted: &'static str,
    },
    #[error("`{key}`: {error}")]
    Expression { key: String, error: ExpressionError },
    #[error("`{0}` is missing")]
    Missing(&'static str),
    #[error("`{key}`: {problem}")]
    Value { key: String, problem: String },
    #[error("{0}")]
    Name(NotAName),
    #[error("{0}")]
    Rule(&'static str),
    #[error("`{key}` has {given} values; the most are {most}")]
    Many { key: String, given: usize, most: usize },
    #[error("two scratch buffers are named `{0}`")]
    ScratchTwice(String),
    #[error("the scratch buffer `{0}` has the name of a tensor")]
    ScratchIsTensor(String),
    #[error("the source has no kernel `{}`{}", shown(.name), suggestion(closest(.name, .known.iter().map(String::as_str))))]
    NoKernel { name: String, known: Vec<String> },
    #[error("the source declares {}, so `kernel` is needed", declared(.0))]
    WhichKernel(Vec<String>),
    #[error("`{name}` is a template: name its arguments, as in `{name}<256>`")]
    Template { name: String },
    #[error("the parameters of `{0}` are not known (hint: list them: `arguments = [\"x\", \"y\", \"n\"]`)")]
    ArgumentsUnknown(String),
    #[error(
        "parameter {number} of `{kernel}`, `{written}`, is no tensor, axis or scratch buffer (hint: list all arguments: `arguments = [..]`); there are {known}"
    )]
    ParameterUnknown {
        kernel: String,
        number: usize,
        written: String,
        known: String,
    },
    #[error("`{kernel}` has {wanted} parameters, not {given}: `{kernel}({written})`")]
    ArgumentCount {
        kernel: String,
        given: usize,
        wanted: usize,
        written: String,
    },
    #[error("`{}` is no tensor, scratch buffer or axis: there are {known}{}", shown(.name), near(.name, .known))]
    NoArgument { name: String, known: String },
    #[error("`{argument}`{} {unfit} `{written}`", equals(.argument, .value))]
    Unfit {
        argument: String,
        value: String,
        unfit: Unfit,
        written: String,
    },
    #[error("`{argument}` is a buffer, but `{written}` takes a number")]
    BufferForNumber { argument: String, written: String },
    #[error("`{argument}` is a number, but `{written}` takes a buffer")]
    NumberForBuffer { argument: String, written: String },
    #[error(
        "`{written}` is a struct, which a description cannot pass (hint: let the kernel take its fields as parameters)"
    )]
    Struct { written: String },
    #[error(
        "the type of the parameter for `{0}` is not known (hint: name it: `{{ value = \"{0}\", type = \"i32\" }}`)"
    )]
    TypeUnknown(String),
    #[error("there is no buffer `{}`: there are {known}{}", shown(.name), near(.name, .known))]
    NoBuffer { name: String, known: String },
    #[error("`{key}` = {}{value} is not {wanted}", calculated(.expression, .value))]
    Range {
        key: String,
        expression: String,
        value: String,
        wanted: &'static str,
    },
    #[error(
        "`{from}` has {from_bytes} bytes and `{to}` has {to_bytes} (hint: name how many are copied: `bytes = \"{to}.bytes\"`)"
    )]
    Lengths {
        from: String,
        from_bytes: u64,
        to: String,
        to_bytes: u64,
    },
    #[error("{bytes} bytes are more than `{buffer}` has: {has}")]
    Outside { bytes: u64, buffer: String, has: u64 },
    #[error("the tensor `{0}` is too large")]
    TensorTooLarge(String),
}

impl Mistake {
    pub(crate) fn new(at: Position, what: What) -> Mistake {
        Mistake {
            at,
            what: Box::new(what),
        }
    }
}

/// Hints are in the texts: a plan's messages are shown without them.
impl Expected for Mistake {
    fn exit_code(&self) -> ExitCode {
        ExitCode::Usage
    }
}

fn shown(text: &str) -> String {
    let beginning: String = text.chars().take(80).collect();
    beginning.escape_debug().to_string()
}

fn equals(argument: &str, value: &str) -> String {
    if argument == value {
        String::new()
    } else {
        format!(" = {value}")
    }
}

fn calculated(expression: &str, value: &str) -> String {
    if expression == value {
        String::new()
    } else {
        format!("`{expression}` = ")
    }
}

fn near(name: &str, known: &str) -> String {
    suggestion(closest(name, known.split('`').skip(1).step_by(2)))
}

fn declared(kernels: &[String]) -> String {
    match kernels {
        [] => "no kernel".to_owned(),
        kernels => {
            let shown: Vec<String> = kernels.iter().take(12).map(|name| format!("`{name}`")).collect();
            shown.join(", ")
        }
    }
}
