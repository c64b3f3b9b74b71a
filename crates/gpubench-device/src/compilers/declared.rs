//! What a kernel source of the catalog declares.

use gpubench::catalog::Source;
use gpubench_declarations::{DeclaredKernel, Parameter, Texts};

use super::options::host_options;

/// Returns the parameters of the kernel with a name expression, if all its declarations in the
/// source agree.
pub fn declared_parameters(source: &Source, name: &str) -> Option<Vec<Parameter>> {
    let options = host_options(&source.options);
    let definitions = options.iter().filter_map(|option| option.strip_prefix("-D"));
    texts(source).declarations(definitions).parameters(name)
}

/// Returns the most threads of a block that a kernel's `__launch_bounds__` allows: the largest
/// limit of its declarations. `None` if one has no limit, or no plain number. Namespaces and `#if`
/// may choose between them.
pub fn declared_thread_limit(source: &Source, name: &str) -> Option<u32> {
    texts(source).declarations([]).thread_limit(name)
}

/// Returns the names of the `__global__` functions of a source, with namespaces, in order, each
/// once. Kernels that macros define are missing.
pub fn declared_kernels(source: &Source) -> Vec<String> {
    kernels_in(source).into_iter().map(|kernel| kernel.name).collect()
}

/// Returns the kernels of a source with their places.
pub(super) fn kernels_in(source: &Source) -> Vec<DeclaredKernel> {
    texts(source).declarations([]).kernels()
}

/// Returns whether a source has macros that define kernels. The names of such kernels are unknown.
pub fn makes_kernels_by_macros(source: &Source) -> bool {
    texts(source).make_kernels_by_macros()
}

fn texts(source: &Source) -> Texts {
    let files = source.files.iter();
    Texts::of(files.map(|file| (&*file.path, file.text())))
}

#[cfg(test)]
mod tests {
    use gpubench_declarations::ParameterType;

    use super::super::tests::source_of;
    use super::*;

    #[test]
    fn a_type_that_an_option_defines_is_unknown() {
        let mut source = source_of("__global__ void k(real x, size_t n) {}");
        source.options = vec!["-D".into(), "size_t=unsigned".into()];
        let parameters = declared_parameters(&source, "k").expect("they are known");
        assert_eq!(parameters[1].ty, ParameterType::Unknown);
    }
}
