//! The entries of a PTX file and the sizes of their parameters.

/// Parameters of a kernel in PTX.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) parameters: Vec<EntryParameter>,
}

/// A parameter as PTX declares it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EntryParameter {
    /// The declaration: `.param .u64 sum_param_0`.
    pub(crate) written: String,
    pub(crate) kind: EntryKind,
}

/// What PTX tells of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryKind {
    /// An integer of this many bytes. One of 8 may be an address.
    Integer(usize),
    F32,
    F64,
    /// Bits of a half, or a struct.
    Unknown,
}

/// Returns the entries of a PTX text, in order. What it does not understand is left out.
pub(crate) fn entries(text: &str) -> Vec<Entry> {
    let text = without_comments(text);
    // What follows the word belongs to the entry, up to the next.
    text.split(".entry").skip(1).filter_map(entry).collect()
}

fn entry(text: &str) -> Option<Entry> {
    // The name ends at its parameters, its directives or its body. A name has no other letters.
    let text = text.trim_start();
    let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '$' | '%');
    let end = text.find(|letter| !is_of_name(letter)).filter(|end| *end > 0)?;
    let (name, rest) = text.split_at(end);
    let list = match rest.trim_start().strip_prefix('(') {
        Some(list) => list.split_once(')')?.0,
        None => "",
    };
    let parameters = list.split(',').map(str::trim).filter(|one| !one.is_empty());
    Some(Entry {
        name: name.to_owned(),
        parameters: parameters.map(parameter).collect(),
    })
}

fn parameter(written: &str) -> EntryParameter {
    let mut words = written.split_whitespace().skip_while(|word| *word == ".param");
    let is_array = written.contains('[');
    let kind = match words.next() {
        _ if is_array => EntryKind::Unknown,
        Some(".u8" | ".s8" | ".b8") => EntryKind::Integer(1),
        Some(".u16" | ".s16") => EntryKind::Integer(2),
        Some(".u32" | ".s32" | ".b32") => EntryKind::Integer(4),
        Some(".u64" | ".s64" | ".b64") => EntryKind::Integer(8),
        Some(".f32") => EntryKind::F32,
        Some(".f64") => EntryKind::F64,
        _ => EntryKind::Unknown,
    };
    EntryParameter {
        written: written.split_whitespace().collect::<Vec<_>>().join(" "),
        kind,
    }
}

fn without_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('/') {
        let (before, comment) = rest.split_at(at);
        kept.push_str(before);
        rest = match comment {
            comment if comment.starts_with("//") => comment.find('\n').map_or("", |end| &comment[end..]),
            comment if comment.starts_with("/*") => comment[2..].find("*/").map_or("", |end| &comment[end + 4..]),
            comment => {
                kept.push('/');
                &comment[1..]
            }
        };
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_have_the_sizes_of_their_parameters() {
        let text = "// .entry commented(\n.version 8.0\n/* .entry this */\n.visible .entry _Z3sumPKfPfi(\n\t.param .u64 _Z3sumPKfPfi_param_0,\n\t\
                    .param .u64 .ptr .global .align 4 out,\n.param .u32 n, .param .f32 eps, .param .f64 d, .param .b16 h,\n\
                    .param .align 8 .b8 s[24]\n)\n.maxntid 256, 1, 1\n{ ret; }\n.entry plain { }\n.entry none() {}";
        let found = entries(text);
        let names: Vec<_> = found.iter().map(|entry| &*entry.name).collect();
        assert_eq!(names, ["_Z3sumPKfPfi", "plain", "none"]);
        use EntryKind::{F32, F64, Integer, Unknown};
        let kinds: Vec<_> = found[0].parameters.iter().map(|one| one.kind).collect();
        assert_eq!(kinds, [Integer(8), Integer(8), Integer(4), F32, F64, Unknown, Unknown]);
        assert_eq!(found[0].parameters[2].written, ".param .u32 n");
        assert!(found[1].parameters.is_empty() && found[2].parameters.is_empty());
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "[ -~\nµ]{0,80}") {
            let _ = entries(&format!(".entry k({text} .entry {text}) /{text}"));
        }
    }
}
