//! The parameters of a kernel. Unclear types are unknown: macros, names with several meanings, and
//! kernels with different declarations.

use std::sync::Arc;

use crate::declarations::Declarations;
use crate::number::{Number, number};
use crate::structs::Field;
use crate::type_names::KernelTypeNames;
use crate::words::{Token, is_word};

/// A kernel's parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The declaration as written: `const float *x`.
    pub written: String,
    /// The name, if it has one.
    pub name: Option<String>,
    /// The type.
    pub ty: ParameterType,
    /// What every kernel of the name may do through it.
    pub access: Access,
}

impl Parameter {
    /// Returns whether it is certainly one parameter. A macro or a pack may expand to several.
    pub fn is_one(&self) -> bool {
        self.name.is_some() || self.ty != ParameterType::Unknown
    }

    /// Returns whether the kernel only reads through it: a pointer to constant numbers.
    pub fn is_read_only(&self) -> bool {
        matches!(self.ty, ParameterType::Pointer(Some(_))) && self.access == Access::Reads
    }
}

/// Returns a name without an upper-case first letter, or in lower case if all of it is upper case.
/// Rust refuses a parameter with the name of a static, constant or unit struct in scope.
pub fn name_of_variable(name: &str) -> String {
    let has_lower_case = name.contains(|letter: char| letter.is_ascii_lowercase());
    match name.chars().next() {
        Some(first) if has_lower_case => first.to_ascii_lowercase().to_string() + &name[first.len_utf8()..],
        _ => name.to_ascii_lowercase(),
    }
}

/// What a kernel may do with the elements of a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read: `const T *`.
    Reads,
    /// Read and write: `T *`.
    Writes,
    /// It is no pointer, a pointer to pointers, or its declarations differ.
    Unknown,
}

/// The type of a parameter, as far as known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParameterType {
    /// A pointer, with its element type if that is a number.
    Pointer(Option<Number>),
    /// A number.
    Number(Number),
    /// A struct whose fields are numbers.
    Struct(Arc<[Field]>),
    /// Anything else.
    Unknown,
}

impl ParameterType {
    /// Returns whether it is the same type, if the sign of integers counts for nothing.
    fn is_like(&self, other: &ParameterType) -> bool {
        match (self, other) {
            (ParameterType::Pointer(Some(one)), ParameterType::Pointer(Some(other)))
            | (ParameterType::Number(one), ParameterType::Number(other)) => one.is_like(*other),
            (ParameterType::Struct(one), ParameterType::Struct(other)) => {
                let is_like = || one.iter().zip(&**other).all(|(one, other)| one.is_like(other));
                Arc::ptr_eq(one, other) || one.len() == other.len() && is_like()
            }
            (one, other) => one == other,
        }
    }
}

/// Most declarations of a kernel that are compared. Whoever asks for many name expressions would
/// otherwise read all of them each time.
const MOST_DECLARATIONS: usize = 64;

impl Declarations<'_> {
    /// Returns the parameters of the kernel with a name expression, if all its declarations agree
    /// and there are at most 64.
    pub fn parameters(&self, name: &str) -> Option<Vec<Parameter>> {
        let functions = self.functions.named(function_name(name)?);
        if functions.len() > MOST_DECLARATIONS {
            return None;
        }
        let mut found: Option<Vec<Parameter>> = None;
        for function in functions {
            let names = self.aliases.with_arguments(function.before(&self.files), name);
            let parameters = split(function.list(&self.files))?
                .into_iter()
                .map(|parameter| self.parsed(parameter, &names))
                .collect::<Option<Vec<_>>>()?;
            match &mut found {
                Some(known) if !same(known, &parameters) => return None,
                // Namespaces and branches of `#if` can declare kernels of one name.
                Some(known) => known.iter_mut().zip(parameters).for_each(|(known, other)| {
                    if known.access != other.access {
                        known.access = Access::Unknown;
                    }
                    // A prototype may have no names.
                    if known.name.is_none() && other.name.is_some() {
                        (known.written, known.name) = (other.written, other.name);
                    }
                }),
                None => found = Some(parameters),
            }
        }
        found
    }

    fn parsed<'t>(&self, tokens: &[Token<'t>], names: &KernelTypeNames<'_, 't>) -> Option<Parameter> {
        let default = tokens.iter().position(|token| token.text == "=");
        let tokens = &tokens[..default.unwrap_or(tokens.len())];
        let texts: Vec<&str> = tokens.iter().map(|token| token.text).collect();
        let known: Vec<&str> = texts
            .iter()
            .copied()
            .filter(|word| !self.macros.is_empty(word))
            .collect();
        let is_redefined = texts.iter().any(|word| self.redefine(word));
        let resolved = names.resolved(&known);
        let ((ty, name), access) = match known[..] {
            [] => return None,
            _ if is_redefined => (
                (ParameterType::Unknown, self.name_after_macros(&known)),
                Access::Unknown,
            ),
            _ => (self.type_of(&resolved), access_of(&resolved)),
        };
        Some(Parameter {
            written: joined(&texts),
            name: name.map(str::to_owned),
            ty,
            access,
        })
    }

    /// Returns the name of a parameter whose type has a macro: `REAL *x`.
    fn name_after_macros<'t>(&self, texts: &[&'t str]) -> Option<&'t str> {
        let is_plain = |text: &&str| is_word(text) && !self.macros.may_be_several(text) || matches!(*text, "*" | ":");
        let last = texts.last().copied().filter(|last| is_word(last) && texts.len() > 1);
        last.filter(|last| texts.iter().all(is_plain) && !self.redefine(last) && !QUALIFIERS.contains(last))
    }

    /// Returns the type of a parameter, and its name.
    fn type_of<'t>(&self, texts: &[&'t str]) -> (ParameterType, Option<&'t str>) {
        let has = |sign: &str| texts.contains(&sign);
        let has_attributes = texts.windows(2).any(|pair| pair == ["[", "["]);
        if has(".") || has_attributes {
            return (ParameterType::Unknown, None);
        }
        let last = texts.split_last().filter(|(last, before)| is_name(last, before));
        let last = last.map(|(last, _)| *last);
        if has("(") || has("&") || has("<") {
            return (ParameterType::Unknown, last);
        }
        let unqualified = |texts: &[&'t str]| {
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
        if let Some(number_of) = number(&words) {
            let ty = match rest {
                0 => ParameterType::Number(number_of),
                _ => ParameterType::Pointer(Some(number_of)),
            };
            return (ty, None);
        }
        let Some((&name, of_type)) = words.split_last().filter(|(name, before)| is_name(name, before)) else {
            return (ParameterType::Unknown, None);
        };
        let number_type = number(of_type);
        let known = match (rest, of_type) {
            (0, [of_struct]) if number_type.is_none() => self.structs.fields_of(of_struct).map(ParameterType::Struct),
            (0, _) => number_type.map(ParameterType::Number),
            _ => Some(ParameterType::Pointer(number_type)),
        };
        let is_named = last.is_some() || rest > 0;
        (known.unwrap_or(ParameterType::Unknown), is_named.then_some(name))
    }
}

/// Returns the name of a kernel without namespaces and template arguments.
pub(crate) fn function_name(name: &str) -> Option<&str> {
    name.split('<').next()?.trim().rsplit("::").next().map(str::trim)
}

/// Returns whether two declarations have the same types; the names may differ.
fn same(one: &[Parameter], other: &[Parameter]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one.ty.is_like(&other.ty))
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

/// Returns whether the last word of a parameter is its name, after the words `before` it. A type
/// that is no keyword, such as `half`, can be a name too: `unsigned half`.
fn is_name(last: &str, before: &[&str]) -> bool {
    const KEYWORDS: [&str; 9] = [
        "bool", "char", "double", "float", "int", "long", "short", "signed", "unsigned",
    ];
    let is_after_type = before.iter().any(|word| !QUALIFIERS.contains(word)) && before.last() != Some(&":");
    let can_be_name = is_word(last) && !before.is_empty() && !QUALIFIERS.contains(&last) && !KEYWORDS.contains(&last);
    can_be_name && (is_after_type || number(&[last]).is_none())
}

/// Returns what a parameter of these words may do with its elements. `const` after the `*` makes
/// the pointer constant.
fn access_of(texts: &[&str]) -> Access {
    let mut depth = 0;
    let mut stars = 0;
    let mut is_constant = false;
    for (at, text) in texts.iter().enumerate() {
        match *text {
            "<" => depth += 1,
            ">" => depth -= 1,
            "(" | "&" | "." => return Access::Unknown,
            "[" if texts.get(at + 1) == Some(&"[") => return Access::Unknown,
            "*" | "[" if depth == 0 => stars += 1,
            "const" if depth == 0 && stars == 0 => is_constant = true,
            _ => {}
        }
    }
    match (stars, is_constant) {
        (1, true) => Access::Reads,
        (1, false) => Access::Writes,
        _ => Access::Unknown,
    }
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
    use crate::declarations::tests::of_text;

    fn read(text: &str, name: &str) -> Option<Vec<(String, Option<String>, ParameterType)>> {
        let parameters = of_text(text, |found| found.parameters(name))?;
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
                    ParameterType::Pointer(Some(Number::F32))
                ),
                written("float *y", Some("y"), ParameterType::Pointer(Some(Number::F32))),
                written("float factor", Some("factor"), ParameterType::Number(Number::F32)),
                written("unsigned long long n", Some("n"), ParameterType::Number(Number::U64)),
                written("T t", Some("t"), ParameterType::Number(Number::F32)),
                written("int", None, ParameterType::Number(Number::I32)),
            ]
        );
    }

    #[test]
    fn every_number_type_is_recognized() {
        use Number::{BF16, Bool, Char, F16, F32, F64, I16, I32, I64, U16, U32, U64};
        let numbers = "float a, const double b, half c, __nv_bfloat16 d, bool e, char f, short g, unsigned h, long i, std::size_t j, uint16_t k";
        let expected = [F32, F64, F16, BF16, Bool, Char, I16, U32, I64, U64, U16].map(ParameterType::Number);
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
            [I32, F32].map(ParameterType::Number)
        );
    }

    #[test]
    fn a_parameter_may_have_the_name_of_a_type() {
        let text = "__global__ void k(unsigned int half, const float *uint, uint half, std::size_t, const half, unsigned long);";
        let found: Vec<_> = read(text, "k")
            .unwrap()
            .into_iter()
            .map(|(_, name, ty)| (name, ty))
            .collect();
        let number = |name: Option<&str>, number| (name.map(str::to_owned), ParameterType::Number(number));
        assert_eq!(
            found,
            [
                number(Some("half"), Number::U32),
                (Some("uint".to_owned()), ParameterType::Pointer(Some(Number::F32))),
                number(Some("half"), Number::U32),
                number(None, Number::U64),
                number(None, Number::F16),
                number(None, Number::U64),
            ]
        );
    }

    #[test]
    fn a_type_with_a_macro_is_unknown_and_its_parameter_has_a_name() {
        let text = "#define REAL float\n#define ARGS int a, int b\n#define OF(T) T\n#define X y\n
            __global__ void k(const REAL *x, ARGS, OF(int) n, float X, REAL *const);";
        let found = read(text, "k").unwrap();
        let names: Vec<Option<&str>> = found.iter().map(|(_, name, _)| name.as_deref()).collect();
        assert_eq!(names, [Some("x"), None, None, None, None]);
        assert!(found.iter().all(|(_, _, ty)| *ty == ParameterType::Unknown));
    }

    #[test]
    fn fields_of_a_plain_struct_have_offsets() {
        let field = |name: &str, offset, number, count| Field {
            name: name.into(),
            offset,
            number,
            count,
        };
        let fields = vec![
            field("gain", 0, Number::F32, 1),
            field("bias", 4, Number::F32, 1),
            field("steps", 8, Number::I32, 2),
        ];
        assert_eq!(types("const Gain g"), [ParameterType::Struct(fields.into())]);
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
            field("c", 0, Number::Char, 1),
            field("f", 4, Number::F32, 1),
            field("d", 8, Number::F64, 1),
        ];
        assert_eq!(
            other("char c; float f; double d;"),
            ParameterType::Struct(padded.into())
        );
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

    #[test]
    fn a_kernel_with_very_many_declarations_has_no_known_parameters() {
        let known = |count: usize| read(&"__global__ void k(int n);".repeat(count), "k").is_some();
        assert!(known(MOST_DECLARATIONS) && !known(MOST_DECLARATIONS + 1));
    }

    #[test]
    fn access_is_known_for_pointers_to_elements() {
        use Access::{Reads, Unknown, Writes};
        let text = "typedef const float real; template <class T> struct V { T t; };
            __global__ void k(const float *a, float const *__restrict__ b, const float *const c, float *const d, const float e[],
                real *f, const void *g, V<const float> *h, const V<float> *i, const float *const *j, float **k, const float &l,
                const float m, float *(*n)(const int *), const float4 *o);";
        let access = of_text(text, |found| found.parameters("k"))
            .unwrap()
            .into_iter()
            .map(|one| one.access);
        let expected = [
            Reads, Reads, Reads, Writes, Reads, Reads, Reads, Writes, Reads, Unknown, Unknown, Unknown, Unknown,
            Unknown, Reads,
        ];
        assert_eq!(access.collect::<Vec<_>>(), expected);
        let twice = "__global__ void k(const float *x);\n#if A\n__global__ void k(float *x) {}\n#endif";
        assert_eq!(
            of_text(twice, |found| found.parameters("k")).unwrap()[0].access,
            Unknown
        );
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "[ -~\n]{0,120}") {
            let _ = read(&format!("struct S {{ {text} }}; __global__ void k({text}) {{}} {text}"), "k");
        }
    }
}
