//! Converts the messages of NVIDIA's front end to the format of other compilers.

use std::fmt::Write as _;

use super::super::unit::name_place;

/// NVRTC's name for the file with the name expressions.
const NAME_MAP: &str = "__nv_name_map";
/// The start of a line with a name expression in that file.
const PRAGMA: &str = "#pragma nv_mangled_name ";
/// The text of an additional message about each of these.
const REPETITION: &str = "Error in parsing name expression";

/// The message that an indented line belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Context {
    /// A message that is kept.
    Shown,
    /// A message that is dropped.
    Hidden,
    /// A message about a name expression; the line has the name.
    Name(String),
}

/// Rewrites `file(12): error: …` as `file:12: error: …`, and places messages about name expressions
/// in the pseudo-file [`name_place`]. Drops warnings.
pub(super) fn usual_form(log: &str) -> String {
    let mut text = String::with_capacity(log.len());
    let mut context = Context::Shown;
    // NVRTC puts a byte that is no letter before the messages of its assembler.
    for line in log
        .lines()
        .map(|line| line.trim_start_matches(char::REPLACEMENT_CHARACTER))
    {
        if let Some(message) = message(line) {
            context = match message.severity {
                "warning" | "remark" => Context::Hidden,
                _ if message.text.starts_with(REPETITION) => Context::Hidden,
                _ if message.file == NAME_MAP => Context::Name(message.text.to_owned()),
                severity => {
                    let hint = hint(message.text);
                    // Writing to a `String` cannot fail.
                    let _ = writeln!(
                        text,
                        "{}:{}: {severity}: {}{hint}",
                        message.file, message.line, message.text
                    );
                    Context::Shown
                }
            };
            continue;
        }
        if !line.starts_with(' ') {
            if !is_summary(line) {
                let _ = writeln!(text, "{line}");
            }
            context = Context::Shown;
            continue;
        }
        context = match context {
            Context::Shown => {
                let _ = writeln!(text, "{line}");
                Context::Shown
            }
            Context::Hidden => Context::Hidden,
            Context::Name(message) => {
                let name = line.trim_start().strip_prefix(PRAGMA).unwrap_or(line).trim();
                let _ = writeln!(text, "{}:1: error: {message}", name_place(name));
                Context::Hidden
            }
        };
    }
    text
}

/// The first line of a message.
struct Message<'a> {
    file: &'a str,
    line: &'a str,
    severity: &'static str,
    text: &'a str,
}

/// The front end's names of severities, and the usual ones.
const SEVERITIES: &[(&str, &str)] = &[
    ("error", "error"),
    ("catastrophic error", "fatal error"),
    ("fatal error", "fatal error"),
    ("internal error", "internal compiler error"),
    ("warning", "warning"),
    ("remark", "remark"),
    ("note", "note"),
];

/// Parses `file(12): error #20-D: text`. The file may be a name expression with parentheses.
fn message(line: &str) -> Option<Message<'_>> {
    if line.starts_with(' ') {
        return None;
    }
    line.match_indices("): ").find_map(|(end, _)| {
        let start = line[..end].rfind('(')?;
        let number = &line[start + 1..end];
        if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let rest = &line[end + "): ".len()..];
        let (head, text) = rest.split_once(": ").or_else(|| rest.split_once(':'))?;
        let word = head.split(" #").next().unwrap_or(head);
        let (_, severity) = SEVERITIES.iter().find(|(known, _)| *known == word)?;
        Some(Message {
            file: &line[..start],
            line: number,
            severity,
            text,
        })
    })
}

/// Headers that kernels include and that NVRTC's package lacks.
const OF_CUDA_RUNTIME: &str = "cooperative_groups.h cuComplex.h cuda_awbarrier.h cuda_bf16.h cuda_fp16.h cuda_fp4.h cuda_fp6.h cuda_fp8.h \
                               cuda_pipeline.h math_constants.h mma.h vector_types.h";

/// Beginnings of the headers of libraries for several GPUs, NCCL and NVSHMEM.
const OF_SEVERAL_GPUS: &[&str] = &["nccl", "nvshmem"];

/// Folders in the include paths of CUDA's C++ library.
const OF_CUDA_LIBRARY: &[&str] = &["cub/", "cuda/", "nv/", "thrust/"];

/// Returns whether a header of CUDA has code for kernels.
pub(super) fn is_for_kernels(header: &str) -> bool {
    let of_library = OF_CUDA_LIBRARY.iter().any(|folder| header.starts_with(folder));
    let of_curand = header.starts_with("curand_") && header.ends_with("kernel.h");
    of_library || of_curand || OF_CUDA_RUNTIME.split(' ').any(|known| known == header)
}

/// Returns a hint for a message about host code or a missing header of a library.
fn hint(text: &str) -> &'static str {
    if text.contains("not allowed in JIT mode") || text.contains("without execution space annotations") {
        return " (hint: mark the function `__device__`; for headers that mark none, add the option `--device-as-default-execution-space` or set `compiler = nvcc` in `cuda_source!`)";
    }
    let header = text
        .strip_prefix("cannot open source file \"")
        .and_then(|rest| rest.strip_suffix('"'));
    // Only headers of the C++ standard library have names without an extension.
    let is_of_host = |header: &str| header.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    match header {
        Some(header) if is_of_host(header) => {
            " (hint: NVRTC has no host C++ library: set `compiler = nvcc` in `cuda_source!`, or use `cuda/std`, which has much of it for kernels)"
        }
        Some(header) if OF_CUDA_RUNTIME.split(' ').any(|known| known == header) => {
            " (hint: install the CUDA toolkit, or, if NVRTC is from a Python package, `pip install nvidia-cuda-runtime nvidia-cuda-cccl`; the packages for CUDA 12 end in `-cu12`)"
        }
        Some(header) if OF_SEVERAL_GPUS.iter().any(|library| header.starts_with(library)) => {
            " (hint: kernels that need several GPUs cannot be measured: a case runs on one)"
        }
        Some(header) if header.starts_with("crt/") => {
            " (hint: install the CUDA toolkit, or, if NVRTC is from a Python package, `pip install nvidia-cuda-crt`; for CUDA 12, `nvidia-cuda-nvcc-cu12`)"
        }
        Some(header) if OF_CUDA_LIBRARY.iter().any(|folder| header.starts_with(folder)) => {
            " (hint: install the CUDA toolkit, or, if NVRTC is from a Python package, `pip install nvidia-cuda-cccl`; the package for CUDA 12 ends in `-cu12`)"
        }
        _ => "",
    }
}

/// Returns whether a line is a summary of all messages.
fn is_summary(line: &str) -> bool {
    line.is_empty() || line.starts_with("Remark: ") || line.contains(" detected in the compilation of ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_get_the_usual_format_and_warnings_are_dropped() {
        let log = "src/a(b).cu(12): error: identifier \"wrong\" is undefined\n  x = wrong;\n      ^\n\n\
            src/a.cu(10): warning #177-D: never referenced\n  y\n  ^\n\n\
            Remark: The warnings can be suppressed with \"-diag-suppress <warning-number>\"\n\n\
            src/a.cu(5): error #33-D: static assertion failed\n  z\n\
            src/a.cu(5): note #3453-D: the final comparison was 12 < 10\n\
            src/a.cu(6): catastrophic error: cannot open source file \"n.h\"\n\
            1 error detected in the compilation of \"src/a.cu\".\n\u{fffd}ptxas error   : too much shared data\n";
        insta::assert_snapshot!(usual_form(log), @r#"
        src/a(b).cu:12: error: identifier "wrong" is undefined
          x = wrong;
              ^
        src/a.cu:5: error: static assertion failed
          z
        src/a.cu:5: note: the final comparison was 12 < 10
        src/a.cu:6: fatal error: cannot open source file "n.h"
        ptxas error   : too much shared data
        "#);
    }

    /// Returns the message for a missing header.
    fn missing(header: &str) -> String {
        usual_form(&format!(
            "a.cu(1): catastrophic error: cannot open source file \"{header}\"\n"
        ))
    }

    #[test]
    fn a_missing_library_header_has_a_hint() {
        for (header, holder) in [
            ("unordered_map", "`compiler = nvcc`"),
            ("cuda_fp16.h", "nvidia-cuda-runtime"),
            ("cooperative_groups.h", "nvidia-cuda-runtime"),
            ("crt/mma.h", "nvidia-cuda-crt"),
            ("cuda/std/limits", "`pip install nvidia-cuda-cccl`"),
            ("cub/cub.cuh", "`pip install nvidia-cuda-cccl`"),
            ("nvshmem.h", "a case runs on one"),
            ("nccl_device.h", "a case runs on one"),
        ] {
            let shown = missing(header);
            assert!(shown.contains("(hint: ") && shown.contains(holder), "{shown}");
        }
    }

    #[test]
    fn host_code_has_a_hint() {
        let log = "a.cu(1): error: A function without execution space annotations (__host__/__device__/__global__) is considered a host function, and \
            host functions are not allowed in JIT mode. Consider using -default-device flag\n";
        let shown = usual_form(log);
        assert!(
            shown.contains("(hint: ") && shown.contains("`compiler = nvcc`"),
            "{shown}"
        );
    }

    #[test]
    fn a_missing_header_of_the_source_has_no_hint() {
        for own in ["step.cuh", "cuda_utils.cuh", "cuda_helpers.h", "kernels/cuda/step.h"] {
            assert_eq!(
                missing(own),
                format!("a.cu:1: fatal error: cannot open source file \"{own}\"\n")
            );
        }
    }

    #[test]
    fn a_message_about_a_name_has_the_name() {
        let log = "__nv_name_map(5): error: identifier \"none\" is undefined\n  #pragma nv_mangled_name image::blur<none>\n     ^\n\n\
            __nv_name_map(5): error: Error in parsing name expression for lowered name lookup. Input name expression was: \" k\"\n  \
            #pragma nv_mangled_name image::blur<none>\n     ^\n";
        assert_eq!(
            usual_form(log),
            "kernel `image::blur<none>`:1: error: identifier \"none\" is undefined\n"
        );
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_no_panic(log in "[ -~\n():\u{e9}]{0,200}") {
            usual_form(&log);
        }
    }
}
