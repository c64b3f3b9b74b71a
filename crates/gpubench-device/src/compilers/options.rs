//! The options a user gives for a kernel source, as the host's compiler understands them.

/// Keeps definitions, include paths and the language standard; drops what only NVIDIA's compilers know. Nothing else passes, since an option
/// such as a plugin would run code in the build.
pub(super) fn host_options(options: &[String]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut rest = options.iter();
    while let Some(option) = rest.next() {
        let (name, value) = split(option);
        let Some(short) = short_form(name) else { continue };
        let value = if value.is_empty() {
            rest.next().map_or("", String::as_str)
        } else {
            value
        };
        if short == "-std=" {
            kept.extend(standard(value));
        } else if !value.is_empty() {
            kept.push(format!("{short}{value}"));
        }
    }
    kept
}

fn split(option: &str) -> (&str, &str) {
    if option.starts_with("--") || option.starts_with("-std") {
        return option.split_once('=').unwrap_or((option, ""));
    }
    match option.char_indices().nth(2) {
        Some((at, _)) => option.split_at(at),
        None => (option, ""),
    }
}

fn short_form(name: &str) -> Option<&'static str> {
    match name {
        "-D" | "--define-macro" => Some("-D"),
        "-U" | "--undefine-macro" => Some("-U"),
        "-I" | "--include-path" => Some("-I"),
        "-std" | "--std" => Some("-std="),
        _ => None,
    }
}

/// The shim needs C++17, so an older standard is raised to it.
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
