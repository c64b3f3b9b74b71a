//! Generates the translation units: the user's source, plus code that exports its kernels.

use gpubench::catalog::Source;

/// The name of the generated file that includes the source.
pub(super) const UNIT: &str = crate::cpu::executor::GENERATED_FILE;

/// The same file for nvcc, which needs this extension.
pub(super) const NVCC_UNIT: &str = "gpubench_unit.cu";

/// The keywords in the code after the source. The source may define macros with these names.
const KEYWORDS_OF_EXPORTS: &[&str] = &[
    "auto",
    "const",
    "constexpr",
    "decltype",
    "extern",
    "false",
    "return",
    "sizeof",
    "static_assert",
    "true",
    "void",
];

/// Generates the unit for the CPU device: prelude, source, exports. Errors in a kernel's name are
/// reported in the pseudo-file [`name_place`], other errors in generated code in [`UNIT`].
pub(super) fn host_unit(source: &Source, names: &[String]) -> String {
    let prelude = format!("#include \"gpubench/cuda.h\"\n#include \"{}\"\n", main_file(source));
    let keywords: String = KEYWORDS_OF_EXPORTS
        .iter()
        .map(|word| format!("#undef {word}\n"))
        .collect();
    let export = |(number, name): (usize, &String)| {
        format!(
            "#line 1 \"{}\"\nconstexpr auto gb_function_n{number} = ({name});\n\
             static_assert(gb_is_kernel<decltype(gb_function_n{number})>, \"a kernel must be a function that returns void\");\n\
             static_assert(gb_takes_values<decltype(gb_function_n{number})>, \"kernel parameters must be values or pointers, not references\");\n\
             #line 1 \"{UNIT}\"\nGB_EXPORT_AS(n{number}, {name:?}, gb_function_n{number})\n",
            name_place(&name.escape_default().to_string())
        )
    };
    let exports: String = names.iter().enumerate().map(export).collect();
    let descriptors: Vec<String> = (0..names.len()).map(|number| format!("&gb_kernel_n{number}")).collect();
    // Without a kernel, the unit only checks that the source itself compiles.
    let module = if descriptors.is_empty() {
        String::new()
    } else {
        format!("GB_MODULE({})\n", descriptors.join(", "))
    };
    format!("{prelude}{keywords}{exports}{module}")
}

/// Generates the unit for nvcc: the source, and for each name a variable that points to the kernel.
/// The variable instantiates templates, and its initializer in PTX reveals the mangled symbol.
pub(super) fn nvcc_unit(source: &Source, names: &[String]) -> String {
    let pointer = |(number, name): (usize, &String)| {
        format!(
            "#line 1 \"{}\"\nextern \"C\" __device__ void *{POINTER}{number} = (void *)({name});\n",
            name_place(&name.escape_default().to_string())
        )
    };
    let pointers: String = names.iter().enumerate().map(pointer).collect();
    format!("#include \"{}\"\n{pointers}", main_file(source))
}

const POINTER: &str = "gb_kernel_n";

/// Removes the pointers of [`nvcc_unit`] from its PTX. Returns the rest, and the symbols in the
/// order of the names; `None` if a pointer is missing.
pub(super) fn without_pointers(ptx: &str, count: usize) -> Option<(String, Vec<String>)> {
    let mut symbols = vec![None; count];
    let mut rest = String::with_capacity(ptx.len());
    for line in ptx.split_inclusive('\n') {
        match pointer(line).filter(|(number, _)| *number < count) {
            Some((number, symbol)) => symbols[number] = Some(symbol.to_owned()),
            None => rest.push_str(line),
        }
    }
    Some((rest, symbols.into_iter().collect::<Option<_>>()?))
}

/// Parses `.global .align 8 .u64 gb_kernel_n3 = _Z6reducePf;`. The address of a variable is written
/// `generic(name)`.
fn pointer(line: &str) -> Option<(usize, &str)> {
    let (declared, value) = line.trim().strip_suffix(';')?.split_once(" = ")?;
    let number = declared.rsplit(' ').next()?.strip_prefix(POINTER)?;
    let symbol = value.strip_prefix("generic(").and_then(|value| value.strip_suffix(')'));
    Some((number.parse().ok()?, symbol.unwrap_or(value)))
}

/// Returns the pseudo-file of messages about a name expression.
pub(super) fn name_place(name: &str) -> String {
    format!("kernel `{name}`")
}

fn main_file(source: &Source) -> &str {
    source.files.first().map_or("", |file| file.path.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_are_removed_from_ptx_and_show_the_symbols() {
        let ptx = ".version 9.0\n.entry _Z1kPf;\n.global .align 8 .u64 gb_kernel_n1 = generic(table);\n\
            .global .align 8 .u64 gb_kernel_n0 = _Z1kPf;\n.global .u32 gb_kernel_n2 = 3;\n";
        let (rest, symbols) = without_pointers(ptx, 2).expect("both are there");
        assert_eq!(symbols, ["_Z1kPf", "table"]);
        assert_eq!(rest, ".version 9.0\n.entry _Z1kPf;\n.global .u32 gb_kernel_n2 = 3;\n");
        assert_eq!(without_pointers(ptx, 4), None);
    }
}
