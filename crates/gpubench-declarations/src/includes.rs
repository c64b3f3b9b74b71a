//! The `#include` lines of a source.

/// The path of an `#include` line, by its form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Include<'a> {
    /// `"path"`: searched in the including file's folder, then in the `-I` folders.
    Quoted(&'a str),
    /// `<path>`: searched in the `-I` folders.
    Angled(&'a str),
}

/// Returns the `#include` lines of a source.
pub fn includes(text: &str) -> impl Iterator<Item = Include<'_>> {
    text.lines().filter_map(|line| {
        let directive = line.trim_start().strip_prefix('#')?.trim_start();
        let named = directive.strip_prefix("include")?.trim_start();
        if let Some(quoted) = named.strip_prefix('"') {
            return quoted.split_once('"').map(|(path, _)| Include::Quoted(path));
        }
        let angled = named.strip_prefix('<')?;
        angled.split_once('>').map(|(path, _)| Include::Angled(path))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn includes_are_found_in_every_spelling() {
        let text = "#include <cuda_fp16.h>\n  #  include \"a.cuh\" // why\n#include\"deep/b.cuh\"\n// #include \"no.cuh\"\nint x;";
        let expected = [
            Include::Angled("cuda_fp16.h"),
            Include::Quoted("a.cuh"),
            Include::Quoted("deep/b.cuh"),
        ];
        assert_eq!(includes(text).collect::<Vec<_>>(), expected);
    }
}
