//! The arguments of a launch.

use gpubench::plan::{Argument as Planned, ArgumentType};

use crate::buffers::{Buffer, Buffers};
use crate::case::Case;
use crate::description::{Argument, LaunchStep, Written};
use crate::evaluation::evaluated;
use crate::expression::{Names, Value};
use crate::kernels::{Taken, TakenKind};
use crate::mistake::{Mistake, What};
use crate::number_type::NumberType;
use crate::position::Position;

/// The name of a null pointer.
const NULL: &str = "null";

/// What an argument is.
enum Given<'a> {
    Buffer(Buffer<'a>),
    Null,
    Number(Value),
}

/// An argument with its words.
struct Named<'a> {
    given: Given<'a>,
    /// As it is written.
    written: String,
    ty: Option<NumberType>,
    at: Position,
}

/// What the arguments of a launch are taken from.
pub(crate) struct Arguments<'a> {
    pub(crate) case: &'a Case<'a>,
    pub(crate) buffers: &'a Buffers<'a>,
    pub(crate) names: &'a dyn Names,
    /// The kernel.
    pub(crate) kernel: &'a str,
    /// Its parameters, if they are known.
    pub(crate) parameters: Option<&'a [Taken]>,
}

impl Arguments<'_> {
    /// Returns the arguments of a launch with their types.
    ///
    /// # Errors
    /// One is unknown, or does not fit its parameter.
    pub(crate) fn of(&self, launch: &LaunchStep) -> Result<(Vec<Planned>, Vec<ArgumentType>), Mistake> {
        let given = match &launch.arguments {
            Some(arguments) => {
                let arguments = arguments.iter().map(|argument| self.listed(argument));
                arguments.collect::<Result<Vec<_>, _>>()?
            }
            None => self.by_name(&launch.at)?,
        };
        self.refuse_other_number(given.len(), &launch.at)?;
        let planned = given.into_iter().enumerate().map(|(position, argument)| {
            // A macro among the parameters may stand for several.
            let parameters = self.parameters.filter(|all| all.iter().all(|one| one.is_one));
            planned(argument, parameters.and_then(|parameters| parameters.get(position)))
        });
        planned
            .collect::<Result<Vec<_>, _>>()
            .map(|pairs| pairs.into_iter().unzip())
    }

    fn listed(&self, argument: &Argument) -> Result<Named<'_>, Mistake> {
        let Written { expression, at, .. } = &argument.value;
        let buffer = expression.as_name().filter(|_| argument.ty.is_none());
        let given = match buffer.and_then(|name| self.buffer(name)) {
            Some(buffer) => buffer,
            None => {
                self.refuse_unknown(&argument.value)?;
                Given::Number(evaluated(&argument.value, self.names)?)
            }
        };
        Ok(Named {
            given,
            written: expression.to_string(),
            ty: argument.ty,
            at: at.clone(),
        })
    }

    /// Refuses a name alone that means nothing, with buffers among the suggestions.
    fn refuse_unknown(&self, written: &Written) -> Result<(), Mistake> {
        match written.expression.as_name() {
            Some(name) if !name.contains('.') && self.names.value(name).is_none() => {
                let (name, known) = (name.to_owned(), self.known());
                Err(Mistake::new(written.at.clone(), What::NoArgument { name, known }))
            }
            _ => Ok(()),
        }
    }

    fn buffer(&self, name: &str) -> Option<Given<'_>> {
        let buffer = self.buffers.named(name).map(Given::Buffer);
        buffer.or_else(|| (name == NULL && self.case.axis(name).is_none()).then_some(Given::Null))
    }

    /// Returns the arguments that the parameters are named after.
    fn by_name(&self, at: &Position) -> Result<Vec<Named<'_>>, Mistake> {
        let kernel = self.kernel.to_owned();
        let Some(parameters) = self.parameters else {
            return Err(Mistake::new(at.clone(), What::ArgumentsUnknown(kernel)));
        };
        // PTX has no names of parameters that anybody chose.
        if parameters.iter().any(|parameter| parameter.name.is_none()) {
            return Err(Mistake::new(at.clone(), What::ArgumentsUnknown(kernel)));
        }
        let named = (1..).zip(parameters).map(|(number, parameter)| {
            let name = parameter.name.as_deref().unwrap_or_default();
            let buffer = self.buffers.named(name).map(Given::Buffer);
            let given = buffer.or_else(|| self.case.axis(name).map(Given::Number));
            let given = given.ok_or_else(|| {
                let what = What::ParameterUnknown {
                    kernel: kernel.clone(),
                    number,
                    written: parameter.written.clone(),
                    known: self.known(),
                };
                Mistake::new(at.clone(), what)
            })?;
            Ok(Named {
                given,
                written: name.to_owned(),
                ty: None,
                at: at.clone(),
            })
        });
        named.collect()
    }

    fn known(&self) -> String {
        let axes = self.case.params.iter().map(|(name, _)| format!("`{name}`"));
        let buffers = self.buffers.listed();
        let names: Vec<String> = [buffers]
            .into_iter()
            .chain(axes)
            .filter(|name| !name.is_empty())
            .collect();
        names.join(", ")
    }

    fn refuse_other_number(&self, given: usize, at: &Position) -> Result<(), Mistake> {
        let Some(parameters) = self.parameters else {
            return Ok(());
        };
        let is_known = parameters.iter().all(|parameter| parameter.is_one);
        if !is_known || parameters.len() == given {
            return Ok(());
        }
        let written: Vec<&str> = parameters.iter().map(|parameter| parameter.written.as_str()).collect();
        let what = What::ArgumentCount {
            kernel: self.kernel.to_owned(),
            given,
            wanted: parameters.len(),
            written: written.join(", "),
        };
        Err(Mistake::new(at.clone(), what))
    }
}

fn planned(argument: Named<'_>, parameter: Option<&Taken>) -> Result<(Planned, ArgumentType), Mistake> {
    let kind = parameter.map_or(TakenKind::Unknown, |parameter| parameter.kind);
    let written = || parameter.map(|parameter| parameter.written.clone()).unwrap_or_default();
    let wrong = |what| Err(Mistake::new(argument.at.clone(), what));
    let name = || argument.written.clone();
    match (&argument.given, kind) {
        (_, TakenKind::Struct) => wrong(What::Struct { written: written() }),
        (Given::Buffer(_) | Given::Null, TakenKind::Number(_)) => wrong(What::BufferForNumber {
            argument: name(),
            written: written(),
        }),
        (Given::Buffer(buffer), _) => {
            let pointer = Planned::Pointer {
                buffer: buffer.id,
                offset: 0,
            };
            Ok((pointer, buffer.argument_type()))
        }
        (Given::Null, _) => {
            let ty = ArgumentType {
                name: NULL.to_owned(),
                fields: Vec::new(),
            };
            Ok((Planned::Value(vec![0; 8]), ty))
        }
        (Given::Number(_), TakenKind::Buffer) => wrong(What::NumberForBuffer {
            argument: name(),
            written: written(),
        }),
        (Given::Number(value), kind) => {
            let declared = match kind {
                TakenKind::Number(number) => Some(number),
                TakenKind::Word => Some(NumberType::Integer(8)),
                TakenKind::Buffer | TakenKind::Struct | TakenKind::Unknown => None,
            };
            let Some(ty) = argument.ty.or(declared) else {
                return wrong(What::TypeUnknown(name()));
            };
            let taken = match parameter {
                Some(parameter) if argument.ty.is_none() => parameter.written.clone(),
                _ => ty.name().to_owned(),
            };
            match ty.bytes(value) {
                Ok(bytes) => Ok((Planned::Value(bytes), ty.argument_type())),
                Err(unfit) => wrong(What::Unfit {
                    argument: name(),
                    value: value.to_string(),
                    unfit,
                    written: taken,
                }),
            }
        }
    }
}
