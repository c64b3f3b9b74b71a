//! Text that is safe in XML, whoever wrote it.

/// A text between tags. Characters that XML 1.0 has no room for become U+FFFD.
pub(super) fn content(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            // A parser would make it a line feed.
            '\r' => safe.push_str("&#13;"),
            c if is_character(c) => safe.push(c),
            _ => safe.push(char::REPLACEMENT_CHARACTER),
        }
    }
    safe
}

/// The value of an attribute, in double quotes.
pub(super) fn attribute(text: &str) -> String {
    let safe = content(text)
        .replace('"', "&quot;")
        .replace('\n', "&#10;")
        .replace('\t', "&#9;");
    format!("\"{safe}\"")
}

/// The production `Char` of XML 1.0, section 2.2.
fn is_character(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | '\u{20}'..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn whatever_is_written_comes_out_of_a_parser_again(text in any::<String>(), name in any::<String>()) {
            let document = format!("<a name={}>{}</a>", attribute(&name), content(&text));
            let parsed = roxmltree::Document::parse(&document);
            prop_assert!(parsed.is_ok(), "{document:?}");
            let parsed = parsed.unwrap();
            let representable = |text: &str| -> String {
                text.chars().map(|c| if is_character(c) { c } else { char::REPLACEMENT_CHARACTER }).collect()
            };
            prop_assert_eq!(parsed.root_element().text().unwrap_or_default(), representable(&text));
            prop_assert_eq!(parsed.root_element().attribute("name").unwrap(), representable(&name));
        }
    }
}
