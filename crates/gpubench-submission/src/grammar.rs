//! The grammar of a description, in TOML.

use std::collections::HashSet;

use toml::de::{DeTable, DeValue};

use crate::description::{
    Argument, Body, Compiler, Constant, Description, LaunchStep, LibraryFunction, Placed, ScratchBuffer, Step, Steps,
    Written,
};
use crate::entry_path;
use crate::expression::Expression;
use crate::include::include_folders;
use crate::mistake::{Mistake, What};
use crate::name::Name;
use crate::number_type::NumberType;
use crate::position::{Positions, Text};
use crate::table::{Read, Reader, Table};

/// Most options of a compiler, and most bytes of one.
const MOST_OPTIONS: usize = 64;
const LONGEST_OPTION: usize = 1024;

/// Most bytes of a kernel's name expression.
const LONGEST_KERNEL: usize = 512;

const OF_LAUNCH: [&str; 8] = [
    "kernel",
    "grid",
    "block",
    "cluster",
    "shared",
    "cooperative",
    "programmatic",
    "arguments",
];
pub(crate) const OF_DESCRIPTION: [&str; 16] = [
    "name",
    "file",
    "options",
    "compiler",
    "kernel",
    "grid",
    "block",
    "cluster",
    "shared",
    "cooperative",
    "programmatic",
    "arguments",
    "scratch",
    "constant",
    "step",
    "library",
];
pub(crate) const OF_STEP: [&str; 12] = [
    "kernel",
    "grid",
    "block",
    "cluster",
    "shared",
    "cooperative",
    "programmatic",
    "arguments",
    "memset",
    "value",
    "copy",
    "bytes",
];
const OF_MEMSET: [&str; 3] = ["memset", "value", "bytes"];
const OF_COPY: [&str; 2] = ["copy", "bytes"];
pub(crate) const OF_SCRATCH: [&str; 2] = ["name", "bytes"];
pub(crate) const OF_CONSTANT: [&str; 3] = ["symbol", "type", "values"];
pub(crate) const OF_LIBRARY: [&str; 3] = ["function", "synchronizes", "arguments"];
const OF_ARGUMENT: [&str; 2] = ["value", "type"];

/// Reads a description of at most `most` bytes.
///
/// # Errors
/// The first mistake.
pub(crate) fn description(text: &Text<'_>, most: usize) -> Read<Description> {
    if text.as_str().len() > most {
        return Err(Mistake::new(text.position(0), What::Long { most }));
    }
    let text = &Positions::of(text);
    let document = DeTable::parse(text.as_str()).map_err(|error| {
        let at = text.position(error.span().map_or(0, |span| span.start));
        Mistake::new(at, What::Syntax(error.message().to_owned()))
    })?;
    let reader = Reader { text };
    let start = text.as_str().len() - text.as_str().trim_start().len();
    let table = Table {
        reader: &reader,
        table: document.get_ref(),
        name: "a description".to_owned(),
        at: text.position(start),
    };
    table.description()
}

/// Options that have no value.
const WITHOUT_VALUE: [&str; 12] = [
    "--use_fast_math",
    "-use_fast_math",
    "--extra-device-vectorization",
    "--restrict",
    "-restrict",
    "--device-debug",
    "-G",
    "--disable-warnings",
    "-w",
    "-lineinfo",
    "--expt-relaxed-constexpr",
    "--extended-lambda",
];

/// Whether an option is complete. If it took the next word for its value, a compiler could read the
/// words otherwise than the check of folders does.
fn stands_alone(option: &str) -> bool {
    let has_value = ["-D", "-U", "-I"]
        .iter()
        .any(|name| option.strip_prefix(name).is_some_and(|value| !value.is_empty()));
    option.starts_with('-') && (has_value || option.contains('=') || WITHOUT_VALUE.contains(&option))
}

impl Table<'_, '_> {
    fn description(&self) -> Read<Description> {
        self.refuse_others(&OF_DESCRIPTION)?;
        Ok(Description {
            name: self.name()?,
            file: self.file()?,
            options: self.options()?,
            compiler: self.compiler()?,
            body: self.body()?,
            at: self.at.clone(),
            text: self.reader.text.as_str().to_owned(),
        })
    }

    fn name(&self) -> Read<Option<Name>> {
        let Some(name) = self.text("name")? else {
            return Ok(None);
        };
        match Name::new(&name.inner) {
            Ok(name) => Ok(Some(name)),
            Err(error) => Err(Mistake::new(name.at, What::Name(error))),
        }
    }

    fn file(&self) -> Read<Option<Placed<String>>> {
        let Some(file) = self.text("file")? else {
            return Ok(None);
        };
        match entry_path::inside(file.inner.as_bytes()) {
            Ok(Some(inner)) => Ok(Some(Placed { inner, at: file.at })),
            Ok(None) => Err(self.wrong(&file.at, "file", "it is a folder")),
            Err(error) => Err(self.wrong(&file.at, "file", error)),
        }
    }

    fn options(&self) -> Read<Vec<String>> {
        let Some(options) = self.get("options") else {
            return Ok(Vec::new());
        };
        let items = self.reader.list("options", options, "a list of options")?;
        self.refuse_many("options", options, items.len(), MOST_OPTIONS)?;
        let mut read = Vec::new();
        for item in items {
            let option = self.reader.text("options", item)?;
            let problem = match option.inner.as_str() {
                "" => "an option is empty",
                long if long.len() > LONGEST_OPTION => "an option has at most 1024 bytes",
                other if other.contains(|letter: char| letter.is_control()) => "an option has no control characters",
                other if !stands_alone(other) => {
                    "an option is one word that begins with `-`, and has its value in it, as `-DTILE=16` or \
                     `--fmad=false`"
                }
                _ => {
                    read.push(option.inner);
                    continue;
                }
            };
            return Err(self.wrong(&option.at, "options", problem));
        }
        match include_folders(&read)
            .into_iter()
            .find(|folder| entry_path::joined("", folder).is_none())
        {
            None => Ok(read),
            Some(folder) => {
                let problem = format!(
                    "`{}` is not a folder of the submission (hint: headers come from its own folder)",
                    entry_path::shown(folder.as_bytes())
                );
                Err(self.wrong(&self.reader.position(options), "options", problem))
            }
        }
    }

    fn compiler(&self) -> Read<Compiler> {
        match self.text("compiler")? {
            None => Ok(Compiler::Any),
            Some(named) if named.inner == "nvcc" => Ok(Compiler::Nvcc),
            Some(named) => Err(self.wrong(
                &named.at,
                "compiler",
                "the only value is `nvcc`; without it, NVRTC is used if available",
            )),
        }
    }

    fn body(&self) -> Read<Body> {
        let launch = OF_LAUNCH.iter().find(|key| self.get(key).is_some());
        let steps = self.tables("step")?;
        let library = self.get("library");
        let rule = |key: &str, rule| Err(Mistake::new(self.place_of(key), What::Rule(rule)));
        let body = match (launch, &steps, library) {
            (Some(key), Some(_), _) => {
                return rule(
                    key,
                    "one launch is described here and others are in `[[step]]`: move it to a step",
                );
            }
            (Some(_), _, Some(_)) | (_, Some(_), Some(_)) => {
                return rule("library", "a submission is either launches or a `[library]`");
            }
            (None, None, Some(library)) => {
                for key in ["scratch", "constant", "options", "compiler"] {
                    if self.get(key).is_some() {
                        return rule(key, "a `[library]` has only `function`, `synchronizes` and `arguments`");
                    }
                }
                Body::Library(self.reader.table("library", library, "`[library]`")?.library()?)
            }
            (Some(_), None, None) => Body::Steps(self.steps(vec![self.launch()?])?),
            (None, Some(tables), None) => {
                if tables.is_empty() {
                    return rule("step", "there is no step");
                }
                Body::Steps(self.steps(tables.iter().map(Table::step).collect::<Read<_>>()?)?)
            }
            (None, None, None) => match ["scratch", "constant"].iter().find(|key| self.get(key).is_some()) {
                Some(key) => return rule(key, "no launch uses it: there is neither `grid` nor `[[step]]`"),
                None => Body::Nothing,
            },
        };
        Ok(body)
    }

    fn steps(&self, steps: Vec<Step>) -> Read<Steps> {
        let scratch = self.tables("scratch")?.unwrap_or_default();
        let scratch = scratch.iter().map(Table::scratch).collect::<Read<Vec<_>>>()?;
        let mut names = HashSet::new();
        for buffer in &scratch {
            let name = &buffer.name;
            if !names.insert(&name.inner) {
                return Err(Mistake::new(name.at.clone(), What::ScratchTwice(name.inner.clone())));
            }
        }
        let constants = self.tables("constant")?.unwrap_or_default();
        Ok(Steps {
            scratch,
            constants: constants.iter().map(Table::constant).collect::<Read<_>>()?,
            steps,
        })
    }

    fn scratch(&self) -> Read<ScratchBuffer> {
        self.refuse_others(&OF_SCRATCH)?;
        let name = self.needed("name", self.text("name")?)?;
        let is_name =
            Expression::parse(&name.inner).is_ok_and(|name| name.as_name().is_some_and(|it| !it.contains('.')));
        if !is_name || name.inner.trim() != name.inner {
            let problem = "a buffer's name is letters, digits and `_`";
            return Err(self.wrong(&name.at, "name", problem));
        }
        Ok(ScratchBuffer {
            name,
            bytes: self.needed("bytes", self.expression("bytes")?)?,
        })
    }

    fn constant(&self) -> Read<Constant> {
        self.refuse_others(&OF_CONSTANT)?;
        let symbol = self.needed("symbol", self.text("symbol")?)?;
        let ty = self.needed("type", self.number_type()?)?;
        let values = self.needed("values", self.get("values"))?;
        let values = match values.get_ref() {
            DeValue::Array(items) => items
                .iter()
                .map(|item| self.reader.expression("values", item))
                .collect::<Read<_>>()?,
            _ => vec![self.reader.expression("values", values)?],
        };
        Ok(Constant {
            symbol: symbol.inner,
            ty,
            values,
            at: self.at.clone(),
        })
    }

    fn step(&self) -> Read<Step> {
        self.refuse_others(&OF_STEP)?;
        let kinds = ["memset", "copy"].map(|key| self.get(key).is_some());
        match kinds {
            [false, false] => {
                self.refuse_others_of(&OF_LAUNCH, "a launch")?;
                self.launch()
            }
            [true, false] => {
                self.refuse_others_of(&OF_MEMSET, "a memset")?;
                let target = self.needed("memset", self.text("memset")?)?;
                Ok(Step::Memset {
                    target,
                    value: self.needed("value", self.expression("value")?)?,
                    bytes: self.expression("bytes")?,
                })
            }
            [false, true] => {
                self.refuse_others_of(&OF_COPY, "a copy")?;
                let buffers = self.needed("copy", self.get("copy"))?;
                let wanted = "a list of two buffers, `[from, to]`,";
                let items = self.reader.list("copy", buffers, wanted)?;
                let [from, to] = items else {
                    return Err(self.wrong(
                        &self.reader.position(buffers),
                        "copy",
                        "two buffers are expected, `[from, to]`",
                    ));
                };
                Ok(Step::Copy {
                    from: self.reader.text("copy", from)?,
                    to: self.reader.text("copy", to)?,
                    bytes: self.expression("bytes")?,
                })
            }
            [true, true] => {
                let rule = "a step is either a `memset` or a `copy`";
                Err(Mistake::new(self.place_of("copy"), What::Rule(rule)))
            }
        }
    }

    fn launch(&self) -> Read<Step> {
        let grid = self.needed("grid", self.dimensions("grid")?)?;
        let block = self.needed("block", self.dimensions("block")?)?;
        Ok(Step::Launch(Box::new(LaunchStep {
            kernel: self.kernel()?,
            grid,
            block,
            cluster: self.dimensions("cluster")?.unwrap_or_default(),
            shared: self.expression("shared")?,
            cooperative: self.truth("cooperative")?.unwrap_or(false),
            programmatic: self.truth("programmatic")?.unwrap_or(false),
            arguments: self.arguments()?,
            at: match self.get("kernel").or_else(|| self.get("grid")) {
                Some(value) => self.reader.position(value),
                None => self.at.clone(),
            },
        })))
    }

    fn kernel(&self) -> Read<Option<Placed<String>>> {
        let Some(kernel) = self.text("kernel")? else {
            return Ok(None);
        };
        let name = &kernel.inner;
        let is_name =
            !name.trim().is_empty() && name.len() <= LONGEST_KERNEL && !name.contains(|c: char| c.is_control());
        if is_name {
            return Ok(Some(kernel));
        }
        let problem = "a kernel's name is 1 to 512 bytes on one line";
        Err(self.wrong(&kernel.at, "kernel", problem))
    }

    fn library(&self) -> Read<LibraryFunction> {
        self.refuse_others(&OF_LIBRARY)?;
        let function = self.text("function")?;
        Ok(LibraryFunction {
            function: function.map_or_else(|| "solution".to_owned(), |function| function.inner),
            synchronizes: self.truth("synchronizes")?.unwrap_or(true),
            arguments: self.arguments()?,
            at: self.at.clone(),
        })
    }

    fn arguments(&self) -> Read<Option<Vec<Argument>>> {
        let Some(arguments) = self.get("arguments") else {
            return Ok(None);
        };
        let items = self.reader.list("arguments", arguments, "a list of arguments")?;
        let read = items.iter().map(|item| match item.get_ref() {
            DeValue::Table(_) => {
                let table = self.reader.table("arguments", item, "an argument")?;
                table.refuse_others(&OF_ARGUMENT)?;
                Ok(Argument {
                    value: table.needed("value", table.expression("value")?)?,
                    ty: Some(table.needed("type", table.number_type()?)?),
                })
            }
            _ => Ok(Argument {
                value: self.reader.expression("arguments", item)?,
                ty: None,
            }),
        });
        read.collect::<Read<_>>().map(Some)
    }

    /// Reads one number of blocks or threads, or up to three.
    fn dimensions(&self, key: &'static str) -> Read<Option<Vec<Written>>> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let DeValue::Array(items) = value.get_ref() else {
            return Ok(Some(vec![self.reader.expression(key, value)?]));
        };
        if !(1..=3).contains(&items.len()) {
            return Err(self.wrong(
                &self.reader.position(value),
                key,
                "one to three numbers are expected, along x, y and z",
            ));
        }
        let items = items.iter().map(|item| self.reader.expression(key, item));
        items.collect::<Read<_>>().map(Some)
    }

    fn number_type(&self) -> Read<Option<NumberType>> {
        let Some(named) = self.text("type")? else {
            return Ok(None);
        };
        let ty = NumberType::named(&named.inner);
        ty.map(Some).map_err(|problem| self.wrong(&named.at, "type", problem))
    }
}

#[cfg(test)]
mod tests;
