//! The parameters of a kernel, read from the text of its source. Unclear types are unknown: macros,
//! names with several meanings, and kernels with different declarations.

use std::collections::HashSet;

use gpubench::catalog::{DType, Source};

use super::options::host_options;
use super::scan::{Token, after_parentheses, definitions_apart, is_word, tokens};
use super::type_names::TypeNames;

/// A kernel's parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The declaration as written: `const float *x`.
    pub written: String,
    /// The name, if it has one.
    pub name: Option<String>,
    /// The type.
    pub ty: ParameterType,
    /// Whether every kernel of the name only reads through it: a pointer to constant numbers.
    pub is_read_only: bool,
}

impl Parameter {
    /// Returns whether it is certainly one parameter. A macro or a pack may expand to several.
    pub fn is_one(&self) -> bool {
        self.name.is_some() || self.ty != ParameterType::Unknown
    }
}

/// The type of a parameter, as far as known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParameterType {
    /// A pointer, with its element type if that is a number.
    Pointer(Option<DType>),
    /// A number. `bool` counts as `u8`, and the sign of an integer is ignored.
    Number(DType),
    /// A struct whose fields are numbers.
    Struct(Vec<Field>),
    /// Anything else.
    Unknown,
}

/// A field of a struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The name.
    pub name: String,
    /// Bytes from the start of the struct.
    pub offset: u32,
    /// The type.
    pub dtype: DType,
    /// The number of array elements, or 1.
    pub count: u32,
}

/// Returns the parameters of the kernel with a name expression, if all its declarations in the
/// source agree.
pub fn declared_parameters(source: &Source, name: &str) -> Option<Vec<Parameter>> {
    let wanted = function_name(name)?;
    let texts = source.files.iter().map(|file| definitions_apart(&file.text()));
    let (texts, definitions): (Vec<String>, Vec<String>) = texts.unzip();
    let files: Vec<Vec<Token<'_>>> = texts.iter().map(|text| tokens(text)).collect();
    let redefined = redefined(&files, &definitions, &source.options);
    let aliases = TypeNames::of_aliases(&files);
    let text = Text { files, redefined };
    let mut found: Option<Vec<Parameter>> = None;
    for tokens in &text.files {
        for at in (0..tokens.len()).filter(|&at| tokens[at].text == "__global__") {
            let Some(list) = parameter_list(&tokens[at + 1..], wanted) else {
                continue;
            };
            let names = aliases.with_arguments(&tokens[..at], name);
            let parameters = split(list)?
                .into_iter()
                .map(|parameter| parsed(parameter, &names, &text))
                .collect::<Option<Vec<_>>>()?;
            match &mut found {
                Some(known) if !same(known, &parameters) => return None,
                // Namespaces and branches of `#if` can declare kernels of one name.
                Some(known) => known
                    .iter_mut()
                    .zip(parameters)
                    .for_each(|(known, other)| known.is_read_only &= other.is_read_only),
                None => found = Some(parameters),
            }
        }
    }
    found
}

/// Returns the name of a kernel without namespaces and template arguments.
pub(super) fn function_name(name: &str) -> Option<&str> {
    name.split('<').next()?.trim().rsplit("::").next().map(str::trim)
}

/// A source as words.
struct Text<'a> {
    files: Vec<Vec<Token<'a>>>,
    /// Macros, and names of number types that the source redefines.
    redefined: HashSet<String>,
}

fn redefined(files: &[Vec<Token<'_>>], definitions: &[String], options: &[String]) -> HashSet<String> {
    let mut words = HashSet::new();
    for option in host_options(options) {
        let defined = option.strip_prefix("-D");
        words.extend(defined.map(|defined| defined.split(['=', '(']).next().unwrap_or_default().to_owned()));
    }
    for tokens in definitions.iter().map(|lines| tokens(lines)) {
        let macros = tokens.windows(2).filter(|pair| pair[0].text == "define");
        words.extend(macros.map(|pair| pair[1].text.to_owned()));
    }
    for tokens in files {
        let names = tokens
            .windows(2)
            .enumerate()
            .filter_map(|(at, pair)| match pair[0].text {
                "typename" | "class" | "struct" | "enum" | "using" => Some(pair[1].text),
                "typedef" => tokens[at..]
                    .windows(2)
                    .find(|pair| pair[1].text == ";")
                    .map(|pair| pair[0].text),
                _ => None,
            });
        let numbers = names.filter(|name| number(&[name]).is_some());
        words.extend(numbers.map(str::to_owned));
    }
    words
}

/// Returns whether two declarations have the same types; the names may differ.
fn same(one: &[Parameter], other: &[Parameter]) -> bool {
    let types = |parameters: &[Parameter]| {
        parameters
            .iter()
            .map(|parameter| parameter.ty.clone())
            .collect::<Vec<_>>()
    };
    types(one) == types(other)
}

/// Returns the tokens between the parentheses of the next function, if it has the wanted name.
pub(super) fn parameter_list<'t, 'a>(tokens: &'t [Token<'a>], wanted: &str) -> Option<&'t [Token<'a>]> {
    let mut at = 0;
    loop {
        match tokens.get(at)?.text {
            "(" => {
                let name = tokens.get(at.checked_sub(1)?)?.text;
                let end = after_parentheses(tokens, at)?;
                if !name.starts_with("__") {
                    return (name == wanted).then(|| &tokens[at + 1..end - 1]);
                }
                at = end;
            }
            ";" | "{" | "}" | "__global__" => return None,
            _ => at += 1,
        }
    }
}

/// Splits a list at its top-level commas; `None` if it contains a directive.
fn split<'t, 'a>(list: &'t [Token<'a>]) -> Option<Vec<&'t [Token<'a>]>> {
    if list.iter().any(|token| token.text == "#") {
        return None;
    }
    let mut depth = 0i32;
    let parts = list.split(|token| {
        match token.text {
            "(" | "<" | "[" | "{" => depth += 1,
            ")" | ">" | "]" | "}" => depth -= 1,
            _ => {}
        }
        token.text == "," && depth == 0
    });
    let parts: Vec<_> = parts.collect();
    match parts.as_slice() {
        [[]] => Some(Vec::new()),
        [[only]] if only.text == "void" => Some(Vec::new()),
        _ => Some(parts),
    }
}

/// Words that do not change what a type is.
const QUALIFIERS: [&str; 8] = [
    "const",
    "volatile",
    "__restrict__",
    "__restrict",
    "restrict",
    "__grid_constant__",
    "struct",
    "register",
];

fn parsed<'a>(tokens: &[Token<'a>], names: &TypeNames<'a>, text: &Text<'_>) -> Option<Parameter> {
    let default = tokens.iter().position(|token| token.text == "=");
    let tokens = &tokens[..default.unwrap_or(tokens.len())];
    let texts: Vec<&str> = tokens.iter().map(|token| token.text).collect();
    let is_redefined = texts.iter().any(|word| text.redefined.contains(*word));
    let (ty, name) = match texts[..] {
        [] => return None,
        _ if is_redefined => (ParameterType::Unknown, None),
        _ => type_of(&names.resolved(&texts), text),
    };
    Some(Parameter {
        written: joined(&texts),
        name: name.map(str::to_owned),
        is_read_only: is_read_only(&texts, &ty),
        ty,
    })
}

/// Returns whether a parameter as written points to constant numbers. `const` after the `*` makes
/// the pointer constant.
fn is_read_only(texts: &[&str], ty: &ParameterType) -> bool {
    let mut parts = texts.split(|text| *text == "*");
    let pointee = parts.next().unwrap_or_default();
    matches!(ty, ParameterType::Pointer(Some(_))) && parts.count() == 1 && pointee.contains(&"const")
}

/// Returns the type of a parameter, and its name.
fn type_of<'a>(texts: &[&'a str], text: &Text<'_>) -> (ParameterType, Option<&'a str>) {
    let has = |sign: &str| texts.contains(&sign);
    let has_attributes = texts.windows(2).any(|pair| pair == ["[", "["]);
    if has(".") || has_attributes {
        return (ParameterType::Unknown, None);
    }
    let last = texts.last().copied().filter(|last| is_word(last) && texts.len() > 1);
    let last = last.filter(|last| !QUALIFIERS.contains(last) && number(&[last]).is_none());
    if has("(") || has("&") || has("<") {
        return (ParameterType::Unknown, last);
    }
    let unqualified = |texts: &[&'a str]| {
        let words = texts.iter().filter(|word| !QUALIFIERS.contains(word));
        words.copied().collect::<Vec<_>>()
    };
    let mut parts = texts.split(|text| matches!(*text, "*" | "["));
    let words = unqualified(parts.next().unwrap_or_default());
    let (rest, is_pointer) = (parts.count(), has("*"));
    if is_pointer {
        let element = number(&words).filter(|_| rest == 1);
        return (ParameterType::Pointer(element), last);
    }
    if let Some(dtype) = number(&words) {
        let ty = match rest {
            0 => ParameterType::Number(dtype),
            _ => ParameterType::Pointer(Some(dtype)),
        };
        return (ty, None);
    }
    let Some((&name, of_type)) = words.split_last().filter(|(name, _)| number(&[name]).is_none()) else {
        return (ParameterType::Unknown, None);
    };
    let dtype = number(of_type);
    let known = match (rest, of_type) {
        (0, [of_struct]) if dtype.is_none() => fields_of(of_struct, text).map(ParameterType::Struct),
        (0, _) => dtype.map(ParameterType::Number),
        _ => Some(ParameterType::Pointer(dtype)),
    };
    let is_named = last.is_some() || rest > 0;
    (known.unwrap_or(ParameterType::Unknown), is_named.then_some(name))
}

/// Returns the number type that the words name, without qualifiers.
fn number(words: &[&str]) -> Option<DType> {
    let words = match words {
        ["std", ":", ":", rest @ ..] => rest,
        words => words,
    };
    if let [word] = words {
        let known = match *word {
            "float" => DType::F32,
            "double" => DType::F64,
            "half" | "__half" => DType::F16,
            "__nv_bfloat16" | "nv_bfloat16" => DType::BF16,
            "bool" | "int8_t" | "uint8_t" | "uchar" => DType::U8,
            "int16_t" | "uint16_t" | "ushort" => DType::U16,
            "int32_t" | "uint32_t" | "uint" => DType::U32,
            "int64_t" | "uint64_t" | "size_t" | "ptrdiff_t" | "ssize_t" | "intptr_t" | "uintptr_t" => DType::U64,
            _ => return integer(words),
        };
        return Some(known);
    }
    integer(words)
}

/// Parses types such as `unsigned long long int`.
fn integer(words: &[&str]) -> Option<DType> {
    let known = ["unsigned", "signed", "int", "char", "short", "long"];
    if words.is_empty() || words.iter().any(|word| !known.contains(word)) {
        return None;
    }
    let has = |word: &str| words.contains(&word);
    Some(match () {
        () if has("char") => DType::U8,
        () if has("short") => DType::U16,
        () if has("long") => DType::U64,
        () => DType::U32,
    })
}

/// Returns the fields of a struct that the text defines once, with numbers and arrays of numbers
/// only.
fn fields_of(name: &str, text: &Text<'_>) -> Option<Vec<Field>> {
    let mut found = None;
    for tokens in &text.files {
        for at in 0..tokens.len() {
            let opens = |at: usize, text: &str| tokens.get(at).is_some_and(|token| token.text == text);
            if !(opens(at, "struct") && opens(at + 1, name) && opens(at + 2, "{")) {
                continue;
            }
            let body: Vec<&str> = tokens[at + 3..].iter().map(|token| token.text).collect();
            let end = body.iter().position(|&text| text == "}")?;
            let is_redefined = body[..end].iter().any(|word| text.redefined.contains(*word));
            // A struct with two definitions, or with alignment after its body, stays unknown.
            if found.is_some() || is_redefined || body.get(end + 1) != Some(&";") {
                return None;
            }
            found = Some(laid_out(&body[..end])?);
        }
    }
    found
}

fn laid_out(body: &[&str]) -> Option<Vec<Field>> {
    let mut fields = Vec::new();
    let mut offset = 0u32;
    let statements = body
        .split(|&text| text == ";")
        .filter(|statement| !statement.is_empty());
    for statement in statements {
        let words: Vec<&str> = statement.iter().copied().filter(|word| *word != "const").collect();
        let first_name =
            (1..words.len()).find(|&at| number(&words[..at]).is_some() && number(&words[..=at]).is_none())?;
        let dtype = number(&words[..first_name])?;
        for declared in words[first_name..].split(|&text| text == ",") {
            let (name, count) = match declared {
                [name] => (*name, 1),
                [name, "[", count, "]"] => (*name, count.parse().ok()?),
                _ => return None,
            };
            if !is_word(name) {
                return None;
            }
            let size = dtype.size() as u32;
            offset = offset.checked_next_multiple_of(size)?;
            fields.push(Field {
                name: name.to_owned(),
                offset,
                dtype,
                count,
            });
            offset = offset.checked_add(size.checked_mul(count)?)?;
        }
    }
    (!fields.is_empty()).then_some(fields)
}

/// Joins the words with the usual spaces.
fn joined(texts: &[&str]) -> String {
    let mut joined = String::new();
    let mut before = "";
    for text in texts {
        let tight = matches!(*text, "," | ">" | "]" | ")" | "<" | "[" | "(" | ":")
            || matches!(before, "" | "<" | "[" | "(" | ":" | "*" | "&");
        if !tight {
            joined.push(' ');
        }
        joined.push_str(text);
        before = text;
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compilers::tests::source_of;

    fn read(text: &str, name: &str) -> Option<Vec<(String, Option<String>, ParameterType)>> {
        let source = source_of(text);
        let parameters = declared_parameters(&source, name)?;
        Some(
            parameters
                .into_iter()
                .map(|one| (one.written, one.name, one.ty))
                .collect(),
        )
    }

    fn types(parameters: &str) -> Vec<ParameterType> {
        let text = format!("struct Gain {{ float gain, bias; int steps[2]; }};\n__global__ void k({parameters}) {{}}");
        read(&text, "k")
            .unwrap_or_default()
            .into_iter()
            .map(|(_, _, ty)| ty)
            .collect()
    }

    #[test]
    fn parameters_have_their_words_names_and_types() {
        let text = "template <typename T> __global__ void __launch_bounds__(256, 2)\nscale(const T *__restrict__ x, float *y, float factor, \
                    unsigned long long n, T t, int) {}";
        let written = |text: &str, name: Option<&str>, ty| (text.to_owned(), name.map(str::to_owned), ty);
        assert_eq!(
            read(text, "scale<float>").unwrap(),
            [
                written(
                    "const T *__restrict__ x",
                    Some("x"),
                    ParameterType::Pointer(Some(DType::F32))
                ),
                written("float *y", Some("y"), ParameterType::Pointer(Some(DType::F32))),
                written("float factor", Some("factor"), ParameterType::Number(DType::F32)),
                written("unsigned long long n", Some("n"), ParameterType::Number(DType::U64)),
                written("T t", Some("t"), ParameterType::Number(DType::F32)),
                written("int", None, ParameterType::Number(DType::U32)),
            ]
        );
    }

    #[test]
    fn every_number_type_is_recognized() {
        use DType::{BF16, F16, F32, F64, U8, U16, U32, U64};
        let numbers = "float a, const double b, half c, __nv_bfloat16 d, bool e, char f, short g, unsigned h, long i, std::size_t j, uint16_t k";
        let expected = [F32, F64, F16, BF16, U8, U8, U16, U32, U64, U64, U16].map(ParameterType::Number);
        assert_eq!(types(numbers), expected);
        assert_eq!(
            types("float x[], Vec<float, 2> v, const float &r, float4 f, float (*g)(int)"),
            [
                ParameterType::Pointer(Some(F32)),
                ParameterType::Unknown,
                ParameterType::Unknown,
                ParameterType::Unknown,
                ParameterType::Unknown,
            ]
        );
        assert_eq!(types("void"), []);
        assert_eq!(
            types("int n = 3, float f = g(1, 2)"),
            [U32, F32].map(ParameterType::Number)
        );
    }

    #[test]
    fn fields_of_a_plain_struct_have_offsets() {
        let field = |name: &str, offset, dtype, count| Field {
            name: name.into(),
            offset,
            dtype,
            count,
        };
        let fields = vec![
            field("gain", 0, DType::F32, 1),
            field("bias", 4, DType::F32, 1),
            field("steps", 8, DType::U32, 2),
        ];
        assert_eq!(types("const Gain g"), [ParameterType::Struct(fields)]);
        let other = |body: &str| {
            read(&format!("struct S {{ {body} }};\n__global__ void k(S s);"), "k").unwrap()[0]
                .2
                .clone()
        };
        for body in [
            "float f() { return 1; }",
            "Other o;",
            "int bits : 3;",
            "static int s;",
            "float *p;",
            "int n[N];",
        ] {
            assert_eq!(other(body), ParameterType::Unknown, "{body}");
        }
        let padded = vec![
            field("c", 0, DType::U8, 1),
            field("f", 4, DType::F32, 1),
            field("d", 8, DType::F64, 1),
        ];
        assert_eq!(other("char c; float f; double d;"), ParameterType::Struct(padded));
        assert_eq!(other("float f; }; struct S { int f;"), ParameterType::Unknown);
    }

    #[test]
    fn a_kernel_with_two_declarations_has_no_known_parameters() {
        assert_eq!(
            read("__global__ void k(int n);\n__global__ void k(float f) {}", "k"),
            None
        );
        assert_eq!(
            read("__global__ void k(int n,\n#ifdef A\nint m,\n#endif\nint o) {}", "k"),
            None
        );
        assert_eq!(
            read("__global__ void k(int n);\n__global__ void k(int count) {}", "k")
                .unwrap()
                .len(),
            1
        );
        assert_eq!(read("__global__ void other(int n);", "k"), None);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "[ -~\n]{0,120}") {
            let _ = read(&format!("struct S {{ {text} }}; __global__ void k({text}) {{}} {text}"), "k");
        }
    }
}
