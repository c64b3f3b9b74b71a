//! Compares the arguments of a launch with the parameters in the kernel's source.
//!
//! The device only compares sizes. This check also refuses an `i32` for a `float`, as far as the
//! source's text and the launch's types tell. It accepts what it cannot decide.

use gpubench::catalog::{Catalog, DType};
use gpubench::plan::{Argument, ArgumentType, FieldType, KernelRef, Launch};
use gpubench_declarations::{Field, Number, Parameter, ParameterType};
use gpubench_device::compilers::{declared_parameters, declared_thread_limit};

/// What a kernel's source declares, as far as its text tells.
#[derive(Debug, Default)]
pub(super) struct Declaration {
    parameters: Option<Vec<Parameter>>,
    /// The most threads of a block.
    thread_limit: Option<u32>,
}

impl Declaration {
    /// Reads the declaration of a kernel.
    pub(super) fn of(catalog: &Catalog, kernel: &KernelRef) -> Declaration {
        let source = catalog.sources.get(kernel.source as usize);
        let source = source.filter(|source| source.form.is_compiled());
        source.map_or_else(Declaration::default, |source| Declaration {
            parameters: declared_parameters(source, &kernel.name),
            thread_limit: declared_thread_limit(source, &kernel.name),
        })
    }

    /// Returns the parameters of the kernel.
    pub(super) fn parameters(&self) -> Option<&[Parameter]> {
        self.parameters.as_deref()
    }

    /// Returns the parameter of a launch's argument as written if the kernel only reads through it:
    /// a pointer to constant numbers.
    pub(super) fn reads_through(&self, launch: &Launch, position: usize) -> Option<&str> {
        let parameters = self.parameters.as_ref()?;
        // A macro among the parameters may expand to several.
        let parameter = parameters
            .get(position)
            .filter(|_| parameters.len() == launch.arguments.len());
        let parameter = parameter.filter(|parameter| parameter.is_read_only())?;
        Some(&parameter.written)
    }

    /// Compares a launch with it.
    ///
    /// # Errors
    /// The first mismatch.
    pub(super) fn check(&self, launch: &Launch) -> Result<(), String> {
        let threads: u64 = launch.block.iter().map(|threads| u64::from(*threads)).product();
        match self.thread_limit {
            Some(limit) if threads > u64::from(limit) => Err(format!(
                "a block has {threads} threads, more than the `__launch_bounds__({limit})` of `{}` allows",
                launch.kernel
            )),
            _ => self
                .parameters
                .as_ref()
                .map_or(Ok(()), |parameters| fit(launch, parameters)),
        }
    }
}

/// Compares the arguments of a launch with the parameters of its kernel.
///
/// # Errors
/// The first mismatch.
pub(super) fn fit(launch: &Launch, parameters: &[Parameter]) -> Result<(), String> {
    // A launch without types was recorded with another version of the launcher.
    if launch.types.len() != launch.arguments.len() {
        return Ok(());
    }
    check(launch, parameters).map_err(|Mismatch { what, hint }| {
        let written: Vec<&str> = parameters.iter().map(|parameter| parameter.written.as_str()).collect();
        let (kernel, written) = (&launch.kernel, written.join(", "));
        let hint = hint.map(|hint| format!(" (hint: {hint})")).unwrap_or_default();
        format!("{what}; the kernel is `{kernel}({written})`{hint}")
    })
}

/// Why arguments do not fit a kernel.
struct Mismatch {
    what: String,
    hint: Option<String>,
}

/// Returns the first mismatch as an error.
fn check(launch: &Launch, parameters: &[Parameter]) -> Result<(), Mismatch> {
    let given: Vec<Given<'_>> = launch.arguments.iter().zip(&launch.types).map(Given::from).collect();
    if given.len() != parameters.len() {
        return if parameters.iter().all(Parameter::is_one) {
            Err(of_another_number(&given, parameters))
        } else {
            // A macro among the parameters may expand to several.
            Ok(())
        };
    }
    let mut pairs = (1..).zip(given.iter().zip(parameters));
    pairs.try_for_each(|(number, (given, parameter))| {
        let wrong = |Mismatch { what, hint }| Mismatch {
            what: match &parameter.name {
                Some(name) => format!("argument {number}, for `{name}`, {what}"),
                None => format!("argument {number} {what}"),
            },
            hint,
        };
        given.fits(parameter).map_err(wrong)
    })
}

/// Describes a wrong number of arguments. Names the missing or surplus argument if only one fits.
fn of_another_number(given: &[Given<'_>], parameters: &[Parameter]) -> Mismatch {
    let fits = |given: &[&Given<'_>], parameters: &[&Parameter]| {
        let mut pairs = given.iter().zip(parameters);
        given.len() == parameters.len() && pairs.all(|(given, parameter)| given.is_meant_for(parameter))
    };
    let (all_given, all_taken) = (given.iter().collect::<Vec<_>>(), parameters.iter().collect::<Vec<_>>());
    let missing: Vec<usize> = (0..parameters.len())
        .filter(|&left_out| fits(&all_given, &without(&all_taken, left_out)))
        .collect();
    let surplus: Vec<usize> = (0..given.len())
        .filter(|&left_out| fits(&without(&all_given, left_out), &all_taken))
        .collect();
    let which = match (missing.as_slice(), surplus.as_slice()) {
        ([missing], _) => format!(": `{}` is missing", parameters[*missing].written),
        (_, [surplus]) => format!(
            ": argument {}, {}, is one too many",
            surplus + 1,
            given[*surplus].shown()
        ),
        _ => {
            let types: Vec<&str> = given.iter().map(|given| given.ty.name.as_str()).collect();
            format!(": `({})`", types.join(", "))
        }
    };
    let (given, taken) = (counted(given.len(), "argument"), counted(parameters.len(), "parameter"));
    Mismatch {
        what: format!("the launch has {given} for {taken}{which}"),
        hint: None,
    }
}

fn without<'t, T>(all: &[&'t T], left_out: usize) -> Vec<&'t T> {
    let rest = all.iter().enumerate().filter(|(position, _)| *position != left_out);
    rest.map(|(_, one)| *one).collect()
}

fn counted(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    }
}

/// An argument with its Rust type.
struct Given<'a> {
    argument: &'a Argument,
    ty: &'a ArgumentType,
}

impl<'a> From<(&'a Argument, &'a ArgumentType)> for Given<'a> {
    fn from((argument, ty): (&'a Argument, &'a ArgumentType)) -> Given<'a> {
        Given { argument, ty }
    }
}

impl Given<'_> {
    fn shown(&self) -> String {
        let name = &self.ty.name;
        if name.starts_with(['a', 'e', 'f', 'i', 'o', 'A', 'E', 'F', 'I', 'O']) {
            format!("an `{name}`")
        } else {
            format!("a `{name}`")
        }
    }

    /// Checks the argument against a parameter. The error says why it does not fit.
    fn fits(&self, parameter: &Parameter) -> Result<(), Mismatch> {
        let written = type_of(parameter);
        let otherwise = |hint: Option<String>| {
            let what = format!("is {}, but `{written}` is expected", self.shown());
            Err(Mismatch { what, hint })
        };
        match (self.argument, &parameter.ty, self.ty.fields.as_slice()) {
            (_, ParameterType::Unknown, _) => Ok(()),
            (Argument::Pointer { .. }, ty, _) if may_hold_an_address(ty) => Ok(()),
            (Argument::Pointer { .. }, ParameterType::Number(_) | ParameterType::Struct(_), _) => otherwise(None),
            // Integers may hold the bits of any type, and a kernel may copy elements without
            // reading them. Complex numbers may be taken as their parts.
            (Argument::Pointer { .. }, ParameterType::Pointer(Some(expected)), [element])
                if element.dtype.is_float()
                    && expected.is_float()
                    && element.dtype.parts().0.size() != expected.size() =>
            {
                otherwise(Some(format!("use a buffer of `{}`", dtype(*expected))))
            }
            (Argument::Pointer { .. }, ParameterType::Pointer(_), _) => Ok(()),
            // Before `Null` existed, zero was the null pointer.
            (Argument::Value(bytes), ParameterType::Pointer(_), _)
                if bytes.len() == 8 && bytes.iter().all(|byte| *byte == 0) =>
            {
                Ok(())
            }
            (Argument::Value(_), ParameterType::Pointer(_), [_, ..]) => otherwise(Some("pass a buffer".to_owned())),
            (Argument::Value(bytes), ParameterType::Number(number), [field]) if field.count == 1 => {
                if is_like(field.dtype, dtype(*number)) && bytes.len() == number.size() {
                    Ok(())
                } else {
                    otherwise(conversion(written, dtype(*number)))
                }
            }
            (Argument::Value(_), ParameterType::Struct(fields), [_, ..]) => self.fields_fit(fields),
            _ => Ok(()),
        }
    }

    /// Returns whether the argument is a usual one for the parameter.
    fn is_meant_for(&self, parameter: &Parameter) -> bool {
        let same = match (self.argument, &parameter.ty) {
            (Argument::Value(bytes), ParameterType::Number(number)) => bytes.len() == number.size(),
            (Argument::Pointer { .. }, ParameterType::Number(_)) => false,
            _ => true,
        };
        same && self.fits(parameter).is_ok()
    }

    /// Checks that a struct's fields match those of the C++ struct.
    fn fields_fit(&self, fields: &[Field]) -> Result<(), Mismatch> {
        let (name, own) = (&self.ty.name, &self.ty.fields);
        for field in fields {
            let Some(own_field) = own.iter().find(|own| own.offset == field.offset) else {
                continue;
            };
            let swapped = own_field.name != field.name && own.iter().any(|own| own.name == field.name);
            if !is_like(own_field.dtype, dtype(field.number)) || swapped {
                return Err(Mismatch {
                    what: format!(
                        "is a `{name}` with the field {} where the kernel's struct has {}",
                        in_rust(own_field),
                        in_cpp(field)
                    ),
                    hint: Some("declare the same fields, in the same order, in both structs".to_owned()),
                });
            }
        }
        Ok(())
    }
}

fn in_rust(field: &FieldType) -> String {
    match field.count {
        1 => format!("`{}: {}`", field.name, field.dtype),
        count => format!("`{}: [{}; {count}]`", field.name, field.dtype),
    }
}

fn in_cpp(field: &Field) -> String {
    let ty = match field.number {
        Number::F32 => "float",
        Number::F64 => "double",
        Number::F16 => "__half",
        Number::BF16 => "__nv_bfloat16",
        Number::F8E4M3 => "__nv_fp8_e4m3",
        Number::F8E5M2 => "__nv_fp8_e5m2",
        other if other.size() == 1 => "1-byte integer",
        other if other.size() == 2 => "2-byte integer",
        other if other.size() == 4 => "4-byte integer",
        _ => "8-byte integer",
    };
    format!("the {ty} `{}`", field.name)
}

/// Returns the type without the name, as written.
fn type_of(parameter: &Parameter) -> &str {
    let written = parameter.written.as_str();
    match &parameter.name {
        Some(name) => written.strip_suffix(name.as_str()).unwrap_or(written).trim_end(),
        None => written,
    }
}

/// Returns whether an address fits: in an integer of its size, either plain or the only field of a
/// struct.
fn may_hold_an_address(ty: &ParameterType) -> bool {
    let number = match ty {
        ParameterType::Number(number) => *number,
        ParameterType::Struct(fields) if fields.len() == 1 && fields[0].count == 1 => fields[0].number,
        _ => return false,
    };
    !number.is_float() && number.size() == 8
}

/// Returns the element type with the bits of a number type. The sign of an integer counts for
/// nothing.
fn dtype(number: Number) -> DType {
    match number {
        Number::Bool | Number::Char | Number::I8 | Number::U8 => DType::U8,
        Number::I16 | Number::U16 => DType::U16,
        Number::I32 | Number::U32 => DType::U32,
        Number::I64 | Number::U64 | Number::Address => DType::U64,
        Number::F16 => DType::F16,
        Number::BF16 => DType::BF16,
        Number::F32 => DType::F32,
        Number::F64 => DType::F64,
        Number::F8E4M3 => DType::F8E4M3,
        Number::F8E5M2 => DType::F8E5M2,
    }
}

/// Returns whether a value of one type may be intended for another type of the same size. Crates
/// without a float type of 8 or 16 bits pass its bits as `u8` or `u16`.
fn is_like(given: DType, expected: DType) -> bool {
    match (given.is_float(), expected.is_float()) {
        (false, false) => true,
        (false, true) => given.size() <= 2 && given.size() == expected.size(),
        (true, false) => false,
        (true, true) => given == expected,
    }
}

/// Returns how to write a number of the expected type in Rust, if that is known.
fn conversion(written: &str, expected: DType) -> Option<String> {
    let is_unsigned = written.contains("uns") || written.contains("uint");
    match expected {
        DType::F32 => Some("write `2.0f32`; a literal without a suffix is `i32` or `f64`".to_owned()),
        DType::F64 => Some("write `2.0`".to_owned()),
        _ if written.ends_with("size_t") => Some("convert it with `as usize`".to_owned()),
        integer if !integer.is_float() && !written.contains("bool") => {
            let sign = if is_unsigned { 'u' } else { 'i' };
            Some(format!("convert it with `as {sign}{}`", 8 * integer.size()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
