//! Names of files from names that others choose.

/// Returns a name of ASCII characters that mean nothing in a path or a shell, cut to `longest`
/// characters. Different names can become equal.
pub(in crate::broker) fn plain(name: &str, longest: usize) -> String {
    let plain = |character: char| match character {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '.' | '_' | '-' | '=' | '@' => character,
        _ => '_',
    };
    name.chars().map(plain).take(longest).collect()
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn no_name_leaves_its_folder() {
        assert_eq!(plain("../../etc/passwd", 100), ".._.._etc_passwd");
        assert_eq!(plain("a\0b\n\u{202e}é~$`", 100), "a_b______");
        assert_eq!(plain("gemm.n=1024", 6), "gemm.n");
    }
}
