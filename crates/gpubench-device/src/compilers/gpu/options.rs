//! Translates the options of a kernel source for NVRTC and nvcc.

use crate::cuda::Architecture;

/// The compiler that options are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    Nvrtc,
    Nvcc,
}

impl Dialect {
    pub(super) fn name(self) -> &'static str {
        match self {
            Dialect::Nvrtc => "NVRTC",
            Dialect::Nvcc => "nvcc",
        }
    }
}

/// The parsed options of a source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SourceOptions {
    /// The architectures named.
    pub(super) architectures: Vec<Architecture>,
    /// The language standard, if named.
    pub(super) standard: Option<String>,
    /// The other options, ready for the compiler.
    pub(super) passed: Vec<String>,
}

/// The syntax of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Flag,
    /// An option with a number, a word or `true`.
    Word,
    /// An option with any text, such as a definition or a path.
    Text,
    /// An option with an option for the assembler.
    Assembler,
}

/// The treatment of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    Both,
    /// Only nvcc needs it; NVRTC does the same by default.
    NvccOnly,
    NvrtcOnly,
    /// It has no effect: it is the default, or concerns host code.
    Nothing,
    Architecture,
    Standard,
}

/// The option with an option for the assembler.
pub(super) const ASSEMBLER_OPTION: &str = "--ptxas-options";

/// All supported options with their names. The first name is passed to the compiler. Nothing else
/// passes: an option for the host compiler's path, for example, would run code during the build.
const OPTIONS: &[(&str, Shape, Use)] = &[
    ("-D --define-macro", Shape::Text, Use::Both),
    ("-U --undefine-macro", Shape::Text, Use::Both),
    ("-I --include-path", Shape::Text, Use::Both),
    ("--gpu-architecture -arch --arch", Shape::Word, Use::Architecture),
    ("--std -std", Shape::Word, Use::Standard),
    ("--use_fast_math -use_fast_math", Shape::Flag, Use::Both),
    ("--fmad -fmad", Shape::Word, Use::Both),
    ("--ftz -ftz", Shape::Word, Use::Both),
    ("--prec-div -prec-div", Shape::Word, Use::Both),
    ("--prec-sqrt -prec-sqrt", Shape::Word, Use::Both),
    ("--maxrregcount -maxrregcount", Shape::Word, Use::Both),
    ("--diag-suppress -diag-suppress", Shape::Word, Use::Both),
    (
        "--extra-device-vectorization -extra-device-vectorization",
        Shape::Flag,
        Use::Both,
    ),
    ("--restrict -restrict", Shape::Flag, Use::Both),
    ("--device-debug -G", Shape::Flag, Use::Both),
    ("--disable-warnings -w", Shape::Flag, Use::Both),
    ("--ptxas-options -Xptxas", Shape::Assembler, Use::Both),
    (
        "--device-as-default-execution-space -default-device",
        Shape::Flag,
        Use::NvrtcOnly,
    ),
    (
        "--expt-relaxed-constexpr -expt-relaxed-constexpr",
        Shape::Flag,
        Use::NvccOnly,
    ),
    (
        "--extended-lambda -extended-lambda --expt-extended-lambda -expt-extended-lambda",
        Shape::Flag,
        Use::NvccOnly,
    ),
    (
        "--default-stream -default-stream --threads -t",
        Shape::Word,
        Use::Nothing,
    ),
    (
        "--generate-line-info -lineinfo -Wno-deprecated-gpu-targets --verbose -v --ptx -ptx --cubin -cubin -O0 -O1 -O2 -O3",
        Shape::Flag,
        Use::Nothing,
    ),
];

/// Prefixes of the supported assembler options. None of them names a file.
const ASSEMBLER: &str = "-O --opt-level -v --verbose -dlcm= --def-load-cache= -dscm= --def-store-cache= -flcm= --force-load-cache= \
                         -fscm= --force-store-cache= --allow-expensive-optimizations -allow-expensive-optimizations --warn- -warn- \
                         --maxrregcount= --register-usage-level=";

/// Characters that have a meaning for the shell in which nvcc runs its parts.
const FOR_A_SHELL: [char; 3] = ['$', '`', '\n'];

/// Parses the options of a source for a compiler.
///
/// # Errors
/// The first unsupported option.
pub(super) fn parse_options(options: &[String], dialect: Dialect) -> Result<SourceOptions, String> {
    let mut parsed = SourceOptions::default();
    let mut rest = options.iter();
    while let Some(option) = rest.next() {
        let refuse = || option.clone();
        let Known {
            name,
            shape,
            used,
            attached,
        } = known(option).ok_or_else(refuse)?;
        let value = match (shape, attached) {
            (Shape::Flag, _) => String::new(),
            (_, Some(value)) => value.to_owned(),
            (_, None) => rest.next().ok_or_else(refuse)?.clone(),
        };
        if !fits(shape, &value) || dialect == Dialect::Nvcc && value.contains(FOR_A_SHELL) {
            return Err(option.clone());
        }
        let used = match used {
            Use::Both if name == "-D" && defines_the_architecture(&value) => Use::Nothing,
            used => used,
        };
        match (used, dialect) {
            (Use::Nothing, _) | (Use::NvccOnly, Dialect::Nvrtc) => {}
            (Use::NvrtcOnly, Dialect::Nvcc) => return Err(option.clone()),
            (Use::Architecture, _) => parsed.architectures.push(value.parse().map_err(|_| refuse())?),
            (Use::Standard, _) => parsed.standard = Some(value),
            (Use::Both, _) | (Use::NvccOnly, Dialect::Nvcc) | (Use::NvrtcOnly, Dialect::Nvrtc) => {
                parsed.passed.extend(match shape {
                    Shape::Flag => vec![name.to_owned()],
                    Shape::Text => vec![format!("{name}{value}")],
                    Shape::Word => vec![format!("{name}={value}")],
                    // NVRTC takes one option for the assembler at a time.
                    Shape::Assembler => value.split(',').map(|option| format!("{name}={option}")).collect(),
                });
            }
        }
    }
    Ok(parsed)
}

/// Returns whether a definition is that of `__CUDA_ARCH__`. GPU compilers define it themselves; as
/// an option it is for the CPU device.
fn defines_the_architecture(definition: &str) -> bool {
    definition.split('=').next() == Some("__CUDA_ARCH__")
}

/// A supported option.
pub(crate) struct Known<'a> {
    /// The name for the compiler.
    pub(crate) name: &'static str,
    pub(crate) shape: Shape,
    used: Use,
    /// The value, if it is in the same word.
    pub(crate) attached: Option<&'a str>,
}

/// Looks up an option, with or without a value in the same word.
pub(crate) fn known(option: &str) -> Option<Known<'_>> {
    OPTIONS.iter().find_map(|&(names, shape, used)| {
        let attached = names.split(' ').find_map(|name| {
            let rest = option.strip_prefix(name)?;
            match (shape, rest) {
                (_, "") => Some(None),
                (Shape::Flag, _) => None,
                (Shape::Text, rest) if !name.starts_with("--") => Some(Some(rest)),
                (_, rest) => rest.strip_prefix('=').map(Some),
            }
        })?;
        Some(Known {
            name: names.split(' ').next()?,
            shape,
            used,
            attached,
        })
    })
}

fn fits(shape: Shape, value: &str) -> bool {
    let is_word = |value: &str| {
        !value.is_empty()
            && value
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"_-+,.=".contains(&byte))
    };
    match shape {
        Shape::Flag => true,
        Shape::Text => !value.is_empty() && !value.starts_with('-'),
        Shape::Word => is_word(value) && !value.starts_with('-'),
        Shape::Assembler => {
            is_word(value)
                && value
                    .split(',')
                    .all(|it| ASSEMBLER.split(' ').any(|known| it.starts_with(known)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(options: &[&str], dialect: Dialect) -> Result<SourceOptions, String> {
        parse_options(&options.iter().map(|&it| it.to_owned()).collect::<Vec<_>>(), dialect)
    }

    #[test]
    fn options_have_one_form_however_they_are_written() {
        let given = [
            "-DTILE=16",
            "-D",
            "FAST",
            "--define-macro=N=4",
            "-Iinclude",
            "--use_fast_math",
            "-fmad=false",
            "--maxrregcount",
            "64",
            "-Xptxas=-dlcm=cg,-v",
            "-std=c++20",
            "-O3",
            "-lineinfo",
        ];
        let parsed = read(&given, Dialect::Nvrtc).expect("all are known");
        assert_eq!(
            parsed.passed,
            [
                "-DTILE=16",
                "-DFAST",
                "-DN=4",
                "-Iinclude",
                "--use_fast_math",
                "--fmad=false",
                "--maxrregcount=64",
                "--ptxas-options=-dlcm=cg",
                "--ptxas-options=-v"
            ]
        );
        assert_eq!(parsed.standard.as_deref(), Some("c++20"));
    }

    #[test]
    fn architectures_are_collected() {
        let parsed = read(&["-arch=sm_90a", "--gpu-architecture", "compute_100a"], Dialect::Nvcc).expect("known");
        let names: Vec<String> = parsed.architectures.iter().map(ToString::to_string).collect();
        assert_eq!(names, ["sm_90a", "sm_100a"]);
    }

    #[test]
    fn options_for_one_compiler_are_not_passed_to_the_other() {
        let given = ["--expt-relaxed-constexpr", "-extended-lambda"];
        assert_eq!(
            read(&given, Dialect::Nvrtc).expect("known").passed,
            Vec::<String>::new()
        );
        assert_eq!(
            read(&given, Dialect::Nvcc).expect("known").passed,
            ["--expt-relaxed-constexpr", "--extended-lambda"]
        );
        assert_eq!(read(&["-default-device"], Dialect::Nvcc), Err("-default-device".into()));
    }

    #[test]
    fn options_about_host_code_and_outputs_have_no_effect() {
        let given = [
            "--default-stream",
            "per-thread",
            "-default-stream=legacy",
            "-t=4",
            "--threads",
            "8",
            "-Wno-deprecated-gpu-targets",
            "--ptx",
            "--verbose",
        ];
        assert_eq!(read(&given, Dialect::Nvcc), Ok(SourceOptions::default()));
    }

    #[test]
    fn the_architecture_macro_is_not_passed_to_gpu_compilers() {
        for dialect in [Dialect::Nvrtc, Dialect::Nvcc] {
            let parsed = read(&["-D__CUDA_ARCH__=800", "-D", "__CUDA_ARCH__", "-DTILE=8"], dialect).expect("known");
            assert_eq!(parsed.passed, ["-DTILE=8"]);
        }
    }

    #[test]
    fn options_that_could_run_code_or_name_files_are_refused() {
        for option in [
            "-ccbin=evil",
            "--compiler-bindir",
            "-Xcompiler=-fplugin=evil.so",
            "-Xptxas=-o,/etc/passwd",
            "-Xptxas=-v,--output-file=x",
            "--options-file=x",
            "-DX=$(touch evil)",
            "-o",
            "-D",
            "-D=",
            "-arch=evil",
            "",
        ] {
            let refused = read(&[option], Dialect::Nvcc);
            match option {
                // The compiler will refuse a definition without a name.
                "-D=" => assert!(refused.is_ok()),
                _ => assert_eq!(refused, Err(option.to_owned()), "{option}"),
            }
        }
    }
}
