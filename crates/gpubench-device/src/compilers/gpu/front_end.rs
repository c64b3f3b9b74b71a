//! The messages of NVIDIA's front end, in the form in which other compilers give theirs.

use std::fmt::Write as _;

use super::super::unit::name_place;

/// What NVRTC calls the file it puts name expressions in.
const NAME_MAP: &str = "__nv_name_map";
/// How it writes each there.
const PRAGMA: &str = "#pragma nv_mangled_name ";
/// What it adds to every message about one.
const REPETITION: &str = "Error in parsing name expression";

/// What a line that follows a message belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Context {
    /// A message that is shown.
    Shown,
    /// One that is left out.
    Hidden,
    /// One about a name expression, which this line has.
    Name(String),
}

/// Writes `file(12): error: …` as `file:12: error: …`, and messages about name expressions as
/// messages in a file called as [`name_place`] says. Warnings are left out.
pub(super) fn usual_form(log: &str) -> String {
    let mut text = String::with_capacity(log.len());
    let mut context = Context::Shown;
    for line in log.lines() {
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
            if !is_chatter(line) {
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

/// A line that begins a message.
struct Message<'a> {
    file: &'a str,
    line: &'a str,
    severity: &'static str,
    text: &'a str,
}

/// How the front end calls severities, and how others do.
const SEVERITIES: &[(&str, &str)] = &[
    ("error", "error"),
    ("catastrophic error", "fatal error"),
    ("fatal error", "fatal error"),
    ("internal error", "internal compiler error"),
    ("warning", "warning"),
    ("remark", "remark"),
    ("note", "note"),
];

/// Reads `file(12): error #20-D: text`. A file's name may have parentheses of its own, as a name
/// expression has.
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

/// Headers that kernels include and that are no part of NVRTC's own package.
const OF_CUDA_RUNTIME: &str = "cooperative_groups.h cuComplex.h cuda_awbarrier.h cuda_bf16.h cuda_fp16.h cuda_fp4.h cuda_fp6.h cuda_fp8.h \
                               cuda_pipeline.h math_constants.h mma.h vector_types.h";

/// Folders that CUDA's C++ library is included from.
const OF_CUDA_LIBRARY: &[&str] = &["cub/", "cuda/", "nv/", "thrust/"];

/// What helps where a header is missing that is not the source's own.
fn hint(text: &str) -> &'static str {
    if text.contains("not allowed in JIT mode") || text.contains("without execution space annotations") {
        return " (hint: NVRTC compiles no code of a host: `compiler = nvcc` in `cuda_source!` does, `__device__` makes it the device's, and so does the option `--device-as-default-execution-space`)";
    }
    let header = text
        .strip_prefix("cannot open source file \"")
        .and_then(|rest| rest.strip_suffix('"'));
    // Those alone have names without an ending.
    let is_of_host = |header: &str| header.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    match header {
        Some(header) if is_of_host(header) => {
            " (hint: NVRTC has no C++ library of a host: `compiler = nvcc` in `cuda_source!` has, and `cuda/std` has much of it for kernels)"
        }
        Some(header) if OF_CUDA_RUNTIME.split(' ').any(|known| known == header) => {
            " (hint: it comes with the CUDA toolkit, or with `pip install nvidia-cuda-runtime nvidia-cuda-cccl` where NVRTC is from Python's packages; those for CUDA 12 end in `-cu12`)"
        }
        Some(header) if header.starts_with("crt/") => {
            " (hint: it comes with the CUDA toolkit, or with `pip install nvidia-cuda-crt` where NVRTC is from Python's packages; for CUDA 12, `nvidia-cuda-nvcc-cu12` has it)"
        }
        Some(header) if OF_CUDA_LIBRARY.iter().any(|folder| header.starts_with(folder)) => {
            " (hint: CUDA's C++ library comes with the CUDA toolkit, or with `pip install nvidia-cuda-cccl` where NVRTC is from Python's packages; that for CUDA 12 ends in `-cu12`)"
        }
        _ => "",
    }
}

/// What is said of all messages together.
fn is_chatter(line: &str) -> bool {
    line.is_empty() || line.starts_with("Remark: ") || line.contains(" detected in the compilation of ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_get_the_usual_form_and_warnings_go() {
        let log = "src/a(b).cu(12): error: identifier \"wrong\" is undefined\n  x = wrong;\n      ^\n\n\
            src/a.cu(10): warning #177-D: never referenced\n  y\n  ^\n\n\
            Remark: The warnings can be suppressed with \"-diag-suppress <warning-number>\"\n\n\
            src/a.cu(5): error #33-D: static assertion failed\n  z\n\
            src/a.cu(5): note #3453-D: the final comparison was 12 < 10\n\
            src/a.cu(6): catastrophic error: cannot open source file \"n.h\"\n\
            1 error detected in the compilation of \"src/a.cu\".\nptxas error   : too much shared data\n";
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

    /// What is shown where a header is missing.
    fn missing(header: &str) -> String {
        usual_form(&format!(
            "a.cu(1): catastrophic error: cannot open source file \"{header}\"\n"
        ))
    }

    #[test]
    fn a_missing_header_that_is_not_the_sources_own_is_told_with_what_has_it() {
        for (header, holder) in [
            ("unordered_map", "`compiler = nvcc`"),
            ("cuda_fp16.h", "nvidia-cuda-runtime"),
            ("cooperative_groups.h", "nvidia-cuda-runtime"),
            ("crt/mma.h", "nvidia-cuda-crt"),
            ("cuda/std/limits", "`pip install nvidia-cuda-cccl`"),
            ("cub/cub.cuh", "`pip install nvidia-cuda-cccl`"),
        ] {
            let shown = missing(header);
            assert!(shown.contains("(hint: ") && shown.contains(holder), "{shown}");
        }
    }

    #[test]
    fn code_of_the_host_is_told_with_what_compiles_it() {
        let log = "a.cu(1): error: A function without execution space annotations (__host__/__device__/__global__) is considered a host function, and \
            host functions are not allowed in JIT mode. Consider using -default-device flag\n";
        let shown = usual_form(log);
        assert!(
            shown.contains("(hint: ") && shown.contains("`compiler = nvcc`"),
            "{shown}"
        );
    }

    #[test]
    fn a_missing_header_of_the_source_is_told_as_it_is() {
        for own in ["step.cuh", "cuda_utils.cuh", "cuda_helpers.h", "kernels/cuda/step.h"] {
            assert_eq!(
                missing(own),
                format!("a.cu:1: fatal error: cannot open source file \"{own}\"\n")
            );
        }
    }

    #[test]
    fn a_message_about_a_name_is_told_of_the_name() {
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
