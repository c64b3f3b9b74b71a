//! Names of CUDA C++ as names of Rust.

use std::collections::HashSet;

use gpubench_declarations::name_of_variable;

/// Words that a C++ name can be and a Rust name cannot.
const KEYWORDS: &[&str] = &[
    "as", "async", "await", "dyn", "fn", "impl", "in", "let", "loop", "match", "mod", "move", "mut", "pub", "ref",
    "trait", "type", "unsafe", "use", "where", "abstract", "become", "box", "final", "gen", "macro", "override",
    "priv", "unsized", "yield",
];

/// Names that no function or parameter can have, not even as a raw identifier.
const NEVER: &[&str] = &["_", "self", "Self", "super", "crate"];

/// Names that the macros use.
const OF_MACROS: &[&str] = &["launcher", "__gpubench"];

/// Returns a name as a Rust identifier.
pub(super) fn raw(name: &str) -> String {
    match KEYWORDS.contains(&name) {
        true => format!("r#{name}"),
        false => name.to_owned(),
    }
}

/// Returns an identifier without what makes it raw.
pub(super) fn unraw(name: &str) -> &str {
    name.strip_prefix("r#").unwrap_or(name)
}

/// Returns the name that `cuda_source!` gives the function of a kernel, if it can have one.
pub(super) fn kernel_function(kernel: &str) -> Option<String> {
    (!NEVER.contains(&kernel)).then(|| raw(kernel))
}

/// Returns the name of a kernel's benchmark, and adds it and that of its reference to the names
/// that are taken.
pub(super) fn benchmark(kernel: &str, taken: &mut HashSet<String>) -> String {
    let name = match kernel.to_lowercase().as_str() {
        "_" => "kernel".to_owned(),
        name if NEVER.contains(&name) || OF_MACROS.contains(&name) => format!("{name}_kernel"),
        name => name.to_owned(),
    };
    let numbered = (2..).map(|number| format!("{name}_{number}"));
    let mut names = std::iter::once(name.clone()).chain(numbered);
    let free = names.find(|name| !taken.contains(name) && !taken.contains(&format!("{name}_on_cpu")));
    let free = free.unwrap_or_default();
    taken.extend([free.clone(), format!("{free}_on_cpu")]);
    free
}

/// Returns the name of a kernel's parameter as one of the benchmark, different from those that are
/// taken, and adds it to them.
pub(super) fn parameter(declared: Option<&str>, position: usize, taken: &mut HashSet<String>) -> String {
    // The macros take one `_` at the start for that of an unused parameter.
    let declared = declared.map(|name| name_of_variable(name.trim_start_matches('_')));
    let declared = declared.filter(|name| name.starts_with(char::is_alphabetic));
    let mut name = declared.unwrap_or_else(|| format!("arg{position}"));
    while NEVER.contains(&&*name) || OF_MACROS.contains(&&*name) || taken.contains(&name) {
        name.push('_');
    }
    taken.insert(name.clone());
    raw(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_different_names_that_rust_can_have() {
        let declared = [
            "_",
            "Ok",
            "Err",
            "K",
            "k",
            "numElements",
            "DstKey",
            "launcher",
            "launcher_",
            "__gpubench",
            "self",
            "Self",
            "crate",
            "In",
            "type",
            "arg0",
            "_1",
            "_n",
        ];
        let mut taken = HashSet::new();
        let names = declared.iter().enumerate();
        let names = names.map(|(position, name)| parameter(Some(name), position, &mut taken));
        assert_eq!(
            names.collect::<Vec<_>>().join(" "),
            "arg0 ok err k k_ numElements dstKey launcher_ launcher__ gpubench self_ self__ crate_ r#in r#type arg0_ arg16 n"
        );
        assert_eq!(parameter(None, 3, &mut taken), "arg3");
    }

    #[test]
    fn benchmarks_are_different_names_that_rust_can_have() {
        let mut taken = HashSet::new();
        let names = [
            "self",
            "Self",
            "self_kernel",
            "super",
            "_",
            "launcher",
            "a",
            "A",
            "a_on_cpu",
        ];
        let names = names.map(|name| benchmark(name, &mut taken));
        assert_eq!(
            names.join(" "),
            "self_kernel self_kernel_2 self_kernel_3 super_kernel kernel launcher_kernel a a_2 a_on_cpu_2"
        );
    }

    #[test]
    fn a_kernel_without_a_function_is_known_by_its_name() {
        for name in ["self", "super", "crate", "Self", "_"] {
            assert_eq!(kernel_function(name), None);
        }
        assert_eq!(kernel_function("launcher").as_deref(), Some("launcher"));
        assert_eq!(kernel_function("type").as_deref(), Some("r#type"));
    }
}
