//! What is known of a submission's kernels.

use std::collections::{BTreeSet, HashMap};

use gpubench::catalog::{Source, SourceForm};
use gpubench_declarations::{Declarations, Number, Parameter, ParameterType, Texts};

use crate::number_type::NumberType;
use crate::ptx::{EntryKind, entries};

/// The kernels of a source, as far as its text tells.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kernels {
    /// The names, without those of templates, or `None` if nobody knows them.
    names: Option<Vec<Declared>>,
    /// The parameters of kernels that a description names, or that are the only ones.
    parameters: HashMap<String, Vec<Taken>>,
}

/// A kernel that a source declares.
#[derive(Clone, Debug)]
struct Declared {
    name: String,
    is_in_main_file: bool,
    is_template: bool,
}

/// A parameter of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Taken {
    /// The declaration.
    pub(crate) written: String,
    /// Its name, if it has one that a person chose.
    pub(crate) name: Option<String>,
    pub(crate) kind: TakenKind,
    /// Whether it is one parameter. A macro may stand for several.
    pub(crate) is_one: bool,
}

/// What a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum TakenKind {
    Buffer,
    Number(NumberType),
    /// A buffer or an integer of 8 bytes.
    Word,
    Struct,
    Unknown,
}

/// Which kernel a step launches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    Found(String),
    /// There is no kernel of the name; there are these.
    Missing(Vec<String>),
    /// It is a template, and its arguments are not named.
    Template(String),
    /// None is named, and there is not exactly one.
    Unclear(Vec<String>),
}

impl Kernels {
    /// Reads the kernels of a source. `named` are the name expressions whose parameters matter.
    pub(crate) fn of(source: &Source, named: &BTreeSet<&str>) -> Kernels {
        match source.form {
            SourceForm::Cuda | SourceForm::CudaForNvcc => Kernels::of_cuda(source, named),
            SourceForm::Ptx => Kernels::of_ptx(source),
            SourceForm::Cubin | SourceForm::Fatbin => Kernels::default(),
        }
    }

    fn of_cuda(source: &Source, named: &BTreeSet<&str>) -> Kernels {
        let texts = Texts::of(source.files.iter().map(|file| (&*file.path, file.text())));
        let declarations = texts.declarations(definitions(&source.options));
        let main = source.files.first().map(|file| &*file.path);
        let names: Vec<Declared> = declarations
            .kernels()
            .into_iter()
            .map(|kernel| Declared {
                is_in_main_file: Some(&*kernel.file) == main,
                name: kernel.name,
                is_template: kernel.is_template,
            })
            .collect();
        let mut kernels = Kernels {
            names: (!texts.make_kernels_by_macros()).then_some(names),
            parameters: HashMap::new(),
        };
        let only = kernels.only().map(str::to_owned);
        for name in named.iter().copied().chain(only.as_deref()) {
            if let Some(parameters) = taken(&declarations, name) {
                kernels.parameters.insert(name.to_owned(), parameters);
            }
        }
        kernels
    }

    fn of_ptx(source: &Source) -> Kernels {
        let text = source.files.first().map(|file| file.text()).unwrap_or_default();
        let entries = entries(&text);
        let names = entries.iter().map(|entry| Declared {
            name: entry.name.clone(),
            is_in_main_file: true,
            is_template: false,
        });
        let names = Some(names.collect());
        let parameters = entries.into_iter().map(|entry| {
            let parameters = entry.parameters.into_iter().map(|parameter| Taken {
                written: parameter.written,
                name: None,
                is_one: true,
                kind: match parameter.kind {
                    EntryKind::Integer(8) => TakenKind::Word,
                    EntryKind::Integer(size) => TakenKind::Number(NumberType::Integer(size)),
                    EntryKind::F32 => TakenKind::Number(NumberType::Number(Number::F32)),
                    EntryKind::F64 => TakenKind::Number(NumberType::Number(Number::F64)),
                    EntryKind::Unknown => TakenKind::Unknown,
                },
            });
            (entry.name, parameters.collect())
        });
        Kernels {
            parameters: parameters.collect(),
            names,
        }
    }

    /// Returns the kernel of a name expression, or the only one.
    pub(crate) fn which(&self, named: Option<&str>) -> Which {
        let Some(named) = named else {
            return match self.only() {
                Some(name) => Which::Found(name.to_owned()),
                None => Which::Unclear(self.names()),
            };
        };
        let template = named
            .split('<')
            .next()
            .unwrap_or_default()
            .trim()
            .trim_start_matches("::");
        let unqualified = template.rsplit("::").next().unwrap_or_default();
        let Some(names) = &self.names else {
            return Which::Found(named.to_owned());
        };
        let found = names
            .iter()
            .find(|known| known.name == template || known.name == unqualified);
        match found {
            None => Which::Missing(self.names()),
            // An overload may be no template.
            Some(known) if known.is_template && !named.contains('<') => Which::Template(named.to_owned()),
            Some(_) => Which::Found(named.to_owned()),
        }
    }

    /// Returns the parameters of a kernel, if they are known.
    pub(crate) fn parameters(&self, name: &str) -> Option<&[Taken]> {
        self.parameters.get(name).map(Vec::as_slice)
    }

    fn names(&self) -> Vec<String> {
        let names = self.names.iter().flatten();
        names.map(|known| known.name.clone()).collect()
    }

    /// Returns the only kernel: of the main file, or of all files.
    fn only(&self) -> Option<&str> {
        let names = self.names.as_ref()?;
        let mut in_main: Vec<&Declared> = names.iter().filter(|known| known.is_in_main_file).collect();
        if in_main.is_empty() {
            in_main = names.iter().collect();
        }
        match in_main.as_slice() {
            [only] if !only.is_template => Some(&only.name),
            _ => None,
        }
    }
}

/// Returns the definitions of compiler options: `NAME`, `NAME=value`.
fn definitions(options: &[String]) -> Vec<&str> {
    let mut definitions = Vec::new();
    let mut rest = options.iter().map(String::as_str);
    while let Some(option) = rest.next() {
        match option {
            "-D" | "--define-macro" => definitions.extend(rest.next()),
            option => {
                let attached = option
                    .strip_prefix("--define-macro=")
                    .or_else(|| option.strip_prefix("-D"));
                definitions.extend(attached);
            }
        }
    }
    definitions
}

fn taken(declarations: &Declarations<'_>, name: &str) -> Option<Vec<Taken>> {
    let parameters = declarations.parameters(name)?;
    Some(parameters.into_iter().map(of_cpp).collect())
}

fn of_cpp(parameter: Parameter) -> Taken {
    Taken {
        is_one: parameter.is_one(),
        kind: match &parameter.ty {
            ParameterType::Pointer(_) => TakenKind::Buffer,
            ParameterType::Number(Number::Address) => TakenKind::Word,
            ParameterType::Number(number) => TakenKind::Number(NumberType::Number(*number)),
            ParameterType::Struct(_) => TakenKind::Struct,
            ParameterType::Unknown => TakenKind::Unknown,
        },
        written: parameter.written,
        name: parameter.name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench::catalog::SourceFile;

    fn kernels(form: SourceForm, files: &[&str], named: &[&str]) -> Kernels {
        let files = (0..).zip(files).map(|(number, text)| SourceFile {
            path: format!("{number}.cu"),
            contents: text.as_bytes().to_vec(),
        });
        let source = Source {
            name: "0.cu".to_owned(),
            form,
            files: files.collect(),
            options: ["-DREAL=float", "-D", "COUNT=int"].map(str::to_owned).to_vec(),
        };
        Kernels::of(&source, &named.iter().copied().collect())
    }

    fn found(name: &str) -> Which {
        Which::Found(name.to_owned())
    }

    #[test]
    fn the_only_kernel_of_the_main_file_needs_no_name() {
        let header = "__global__ void other(); __global__ void more();";
        let of = |main| kernels(SourceForm::Cuda, &[main, header], &[]).which(None);
        assert_eq!(of("__global__ void sum(float *x) {}"), found("sum"));
        assert_eq!(of("namespace a { __global__ void sum(float *x) {} }"), found("a::sum"));
        assert!(matches!(of(""), Which::Unclear(names) if names.len() == 2));
        assert!(matches!(
            of("template <int N> __global__ void sum() {}"),
            Which::Unclear(_)
        ));
        assert!(matches!(
            of("#define K(N) __global__ void N() {}\nK(a)"),
            Which::Unclear(_)
        ));
        assert_eq!(
            kernels(SourceForm::Cuda, &["", "__global__ void one();"], &[]).which(None),
            found("one")
        );
    }

    #[test]
    fn a_named_kernel_exists_unless_macros_may_make_it() {
        let text = "namespace a { template <class T> __global__ void sum(T *x, int n) {} } __global__ void plain() {}";
        let kernels = kernels(SourceForm::Cuda, &[text], &["a::sum<float>"]);
        assert_eq!(kernels.which(Some("a::sum<float>")), found("a::sum<float>"));
        assert_eq!(kernels.which(Some("plain")), found("plain"));
        assert_eq!(kernels.which(Some("a::sum")), Which::Template("a::sum".to_owned()));
        assert!(matches!(kernels.which(Some("plan")), Which::Missing(names) if names == ["a::sum", "plain"]));
        let kinds: Vec<_> = kernels
            .parameters("a::sum<float>")
            .unwrap()
            .iter()
            .map(|one| one.kind)
            .collect();
        assert_eq!(
            kinds,
            [TakenKind::Buffer, TakenKind::Number(NumberType::Number(Number::I32))]
        );
        let made = "#define K(N) __global__ void N() {}\nK(a)";
        assert_eq!(
            super::tests::kernels(SourceForm::Cuda, &[made], &[]).which(Some("a")),
            found("a")
        );
    }

    #[test]
    fn ptx_tells_sizes_and_a_cubin_nothing() {
        let ptx = kernels(
            SourceForm::Ptx,
            &[".entry k(.param .u64 a, .param .u32 n, .param .b16 h)"],
            &[],
        );
        assert_eq!(ptx.which(None), found("k"));
        let kinds: Vec<_> = ptx.parameters("k").unwrap().iter().map(|one| one.kind).collect();
        assert_eq!(
            kinds,
            [
                TakenKind::Word,
                TakenKind::Number(NumberType::Integer(4)),
                TakenKind::Unknown
            ]
        );
        let cubin = kernels(SourceForm::Cubin, &["\x7fELF"], &[]);
        assert_eq!(
            (cubin.which(Some("k")), cubin.which(None)),
            (found("k"), Which::Unclear(vec![]))
        );
        assert_eq!(cubin.parameters("k"), None);
    }

    #[test]
    fn definitions_of_options_make_types_unknown() {
        let text = "__global__ void k(REAL x, COUNT n, int m);";
        let kernels = kernels(SourceForm::Cuda, &[text], &["k"]);
        let kinds: Vec<_> = kernels.parameters("k").unwrap().iter().map(|one| one.kind).collect();
        assert_eq!(kinds[..2], [TakenKind::Unknown; 2]);
    }
}
