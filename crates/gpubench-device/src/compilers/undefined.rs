//! Linker errors for undefined symbols, in terms of the source.

use gpubench::catalog::Source;

use gpubench_declarations::tokens;

/// The text before the undefined symbol in the messages of common linkers.
const MISSING: &[&str] = &[
    "undefined reference to `",
    "undefined reference to '",
    "undefined symbol: ",
];

/// Returns one error line per undefined symbol, at its first mention in the source. `None` if the
/// linker reports something else.
pub(super) fn missing_definitions(source: &Source, linker: &str) -> Option<String> {
    let mut lines: Vec<String> = Vec::new();
    for symbol in linker.lines().filter_map(missing_symbol) {
        let place = identifier(symbol).and_then(|word| mention(source, word));
        let place = place.map_or_else(String::new, |place| format!("{place}: "));
        let line = format!(
            "{place}error: `{symbol}` is declared but not defined in `{}` or its includes",
            source.name
        );
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn missing_symbol(line: &str) -> Option<&str> {
    let at = MISSING
        .iter()
        .find_map(|words| line.find(words).map(|at| at + words.len()))?;
    Some(line[at..].trim_end_matches('\''))
}

/// Returns the function or variable of a demangled symbol, without result type, scopes, template
/// arguments and parameters. `None` for a symbol that a source does not mention by one word: an
/// operator, a conversion, a symbol with an ABI tag.
fn identifier(symbol: &str) -> Option<&str> {
    let is_a_word = |word: &&str| word.chars().all(|letter| letter == '_' || letter.is_alphanumeric());
    let name = (!symbol.contains("operator")).then(|| last_name(symbol))?;
    Some(name).filter(is_a_word)
}

fn last_name(symbol: &str) -> &str {
    let (mut start, mut end, mut depth) = (0, None, 0_u32);
    for (at, character) in symbol.char_indices() {
        match character {
            '<' => {
                if depth == 0 {
                    end.get_or_insert(at);
                }
                depth += 1;
            }
            '>' => depth = depth.saturating_sub(1),
            // `(anonymous namespace)` is a scope.
            '(' if depth == 0 && at > start => return &symbol[start..end.unwrap_or(at)],
            ':' | ' ' if depth == 0 => (start, end) = (at + 1, None),
            _ => {}
        }
    }
    &symbol[start..end.unwrap_or(symbol.len())]
}

/// Returns the first mention of a word in a source, as `file:line`.
fn mention(source: &Source, word: &str) -> Option<String> {
    source.files.iter().find_map(|file| {
        let text = file.text();
        let found = tokens(&text).into_iter().find(|token| token.text == word)?;
        Some(format!("{}:{}", file.path, found.line))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_symbol_is_reduced_to_its_identifier() {
        let cases = [
            ("elsewhere(float)", "elsewhere"),
            ("elsewhere", "elsewhere"),
            ("void n::times<float, m::S<3> >(float*, m::S<3>)", "times"),
            ("n::S<int>::table", "table"),
            ("(anonymous namespace)::f(int (*)(int))", "f"),
        ];
        for (symbol, expected) in cases {
            assert_eq!(identifier(symbol), Some(expected), "{symbol}");
        }
        for symbol in [
            "f[abi:cxx11](int)",
            "S::operator bool() const",
            "operator<(A, A)",
            "operator new(unsigned long)",
        ] {
            assert_eq!(identifier(symbol), None, "{symbol}");
        }
    }

    #[test]
    fn messages_of_other_linkers_are_parsed() {
        let lines = [
            "ld.lld: error: undefined symbol: f(float)",
            "a.cpp:(.text+0x1): undefined reference to 'f(float)'",
            "/usr/bin/ld: a.cpp:(.text+0x1): undefined reference to `f(float)'",
        ];
        for line in lines {
            assert_eq!(missing_symbol(line), Some("f(float)"), "{line}");
        }
        assert_eq!(missing_symbol("collect2: error: ld returned 1 exit status"), None);
    }
}
