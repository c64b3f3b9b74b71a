//! Where an error happened, as the tool writes it.

/// A place in the code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// The function, with its parameters if the tool knows them.
    pub(super) function: Option<String>,
    pub(super) file: Option<String>,
    pub(super) line: Option<u32>,
}

impl Place {
    /// Parses a place: `kernel(int *)+0x90 in file.cu:41`, without the file if there is no line
    /// information. Versions before 2023 write `0x90 in /a/file.cu:41:kernel(int *)`.
    pub(super) fn parse(text: &str) -> Place {
        let text = text.trim();
        let (code, source) = match text.rsplit_once(" in ") {
            Some((code, source)) => (code, Some(source)),
            None => (text, None),
        };
        if is_offset(code) {
            return source.map(Place::of_old_form).unwrap_or_default();
        }
        let (file, line) = source.and_then(file_and_line).unzip();
        Place {
            function: Some(without_offset(code).to_owned()),
            file,
            line,
        }
    }

    fn of_old_form(source: &str) -> Place {
        // A function can contain `::`, so the line is the first part that is a number.
        let mut colons = source.match_indices(':').map(|(position, _)| position);
        let parted = colons.find_map(|position| {
            let (line, function) = source[position + 1..].split_once(':')?;
            Some((&source[..position], line.parse().ok()?, function))
        });
        match parted {
            Some((file, line, function)) => Place {
                function: Some(function.to_owned()),
                file: Some(file_name(file)),
                line: Some(line),
            },
            None => Place {
                function: Some(source.to_owned()),
                ..Place::default()
            },
        }
    }
}

fn file_and_line(source: &str) -> Option<(String, u32)> {
    let (file, line) = source.rsplit_once(':')?;
    Some((file_name(file), line.parse().ok()?))
}

fn file_name(path: &str) -> String {
    path.rsplit('/').next().unwrap_or(path).to_owned()
}

fn is_offset(text: &str) -> bool {
    let digits = text.strip_prefix("0x");
    digits.is_some_and(|digits| !digits.is_empty() && digits.chars().all(|digit| digit.is_ascii_hexdigit()))
}

/// Removes `+0x90` or `:0x90` from the end.
fn without_offset(code: &str) -> &str {
    let parted = code.rsplit_once(['+', ':']);
    parted
        .filter(|(_, offset)| is_offset(offset))
        .map_or(code, |(function, _)| function)
}

/// Finds three numbers after a word: `(1,0,0)` after `block`.
pub(super) fn coordinates(text: &str, word: &str) -> Option<[u32; 3]> {
    let (_, rest) = text.split_once(word)?;
    let inside = rest.trim_start().strip_prefix('(')?.split_once(')')?.0;
    let mut numbers = inside.split(',').map(|number| number.trim().parse().ok());
    let found = [numbers.next()??, numbers.next()??, numbers.next()??];
    numbers.next().is_none().then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> (Option<String>, Option<String>, Option<u32>) {
        let Place { function, file, line } = Place::parse(text);
        (function, file, line)
    }

    fn found(function: &str, file: &str, line: u32) -> (Option<String>, Option<String>, Option<u32>) {
        (Some(function.to_owned()), Some(file.to_owned()), Some(line))
    }

    #[test]
    fn a_place_has_a_function_a_file_and_a_line() {
        assert_eq!(
            parsed("unaligned_kernel()+0x100 in memcheck_demo.cu:34"),
            found("unaligned_kernel()", "memcheck_demo.cu", 34)
        );
        assert_eq!(
            parsed("unaligned_kernel():0x160 in memcheck_demo.cu:6"),
            found("unaligned_kernel()", "memcheck_demo.cu", 6)
        );
        let of_template = "void add<float, (int)4>(const float *, float *, unsigned long)+0x90 in /a/b/sum.cu:41";
        assert_eq!(
            parsed(of_template),
            found(
                "void add<float, (int)4>(const float *, float *, unsigned long)",
                "sum.cu",
                41
            )
        );
    }

    #[test]
    fn the_form_of_older_versions_is_understood() {
        let old = "0x6360 in /home/user/convolution.cu:123:image::convolution(pixel const*, int)";
        assert_eq!(
            parsed(old),
            found("image::convolution(pixel const*, int)", "convolution.cu", 123)
        );
        assert_eq!(
            parsed("0x50 in unaligned_kernel(void)").0.unwrap(),
            "unaligned_kernel(void)"
        );
    }

    #[test]
    fn without_line_information_only_the_function_is_known() {
        assert_eq!(
            parsed("mult(int *, int *, int)+0x60").0.unwrap(),
            "mult(int *, int *, int)"
        );
        assert_eq!(parsed("0x79d8"), (None, None, None));
    }

    #[test]
    fn coordinates_are_three_numbers_after_a_word() {
        let by = "by thread (122,0,0) in block (1, 2,3)";
        assert_eq!(coordinates(by, "thread"), Some([122, 0, 0]));
        assert_eq!(coordinates(by, "block"), Some([1, 2, 3]));
        assert_eq!(coordinates(by, "warp"), None);
        assert_eq!(coordinates("block (1,2)", "block"), None);
        assert_eq!(coordinates("block (1,2,3,4)", "block"), None);
        assert_eq!(coordinates("block (-1,2,3)", "block"), None);
    }
}
