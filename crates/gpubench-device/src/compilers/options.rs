//! Translates the options of a kernel source for the host compiler.

use std::path::PathBuf;

use super::gpu::{Known, Shape, known};

/// Keeps definitions, include paths and the language standard, and drops options that only NVIDIA's
/// compilers know. Nothing else passes: an option for a plugin, for example, would run code during
/// the build.
pub(super) fn host_options(options: &[String]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut rest = options.iter();
    while let Some(option) = rest.next() {
        let Some(Known {
            name, shape, attached, ..
        }) = known(option)
        else {
            continue;
        };
        let value = match (shape, attached) {
            (Shape::Flag, _) => continue,
            (_, Some(value)) => value,
            (_, None) => rest.next().map_or("", String::as_str),
        };
        match name {
            "--std" => kept.extend(standard(value)),
            _ if shape == Shape::Text && !value.is_empty() => kept.push(format!("{name}{value}")),
            _ => {}
        }
    }
    kept
}

/// Returns the include folders that options name.
pub(super) fn include_folders(options: &[String]) -> Vec<PathBuf> {
    let options = host_options(options).into_iter();
    options
        .filter_map(|option| option.strip_prefix("-I").map(PathBuf::from))
        .collect()
}

/// Returns the option for a language standard. The shim needs C++17, so older standards are raised
/// to it.
fn standard(value: &str) -> Option<String> {
    match value {
        "c++20" => Some("-std=gnu++20".to_owned()),
        "c++23" => Some("-std=gnu++23".to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(options: &[&str]) -> Vec<String> {
        host_options(&options.iter().map(|&option| option.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn definitions_and_the_standard_pass() {
        let given = [
            "-DTILE=16",
            "-D",
            "FAST",
            "--define-macro=N=4",
            "-Iinclude",
            "-std=c++20",
        ];
        assert_eq!(
            host(&given),
            ["-DTILE=16", "-DFAST", "-DN=4", "-Iinclude", "-std=gnu++20"]
        );
    }

    #[test]
    fn options_of_other_compilers_are_dropped() {
        let given = [
            "--use_fast_math",
            "-arch=sm_90",
            "-fplugin=evil.so",
            "-lineinfo",
            "-std=c++14",
            "-O0",
            "-",
            "",
        ];
        assert_eq!(host(&given), Vec::<String>::new());
    }
}
