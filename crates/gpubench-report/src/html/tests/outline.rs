//! A page as a screen reader presents it: headings, tables, lists, and the descriptions of charts.

use roxmltree::{Document, Node};

/// Returns the page as lines of text, indented by section.
pub(super) fn outline(page: &str) -> String {
    let document = Document::parse_with_options(
        page,
        roxmltree::ParsingOptions {
            allow_dtd: true,
            ..Default::default()
        },
    );
    let document = document.unwrap_or_else(|error| panic!("{error}\n{page}"));
    let mut lines = Vec::new();
    describe(document.root_element(), 0, &mut lines);
    lines.join("\n")
}

fn describe(node: Node<'_, '_>, depth: usize, lines: &mut Vec<String>) {
    let mut say = |what: String| lines.push(format!("{}{what}", "  ".repeat(depth)));
    match node.tag_name().name() {
        "style" => {}
        "meta" => {
            let name = node
                .attribute("name")
                .or(node.attribute("http-equiv"))
                .unwrap_or("charset");
            let content = node
                .attribute("content")
                .or(node.attribute("charset"))
                .unwrap_or_default();
            // The digest changes with the style sheet.
            let content = content.split("'sha256-").next().unwrap_or_default();
            say(format!("[{name}] {content}"));
        }
        "h1" | "h2" | "h3" | "h4" => say(format!("{} {}", "#".repeat(level(node)), words(node))),
        "tr" => {
            let cells = node.children().filter(Node::is_element).map(words);
            say(format!("| {} |", cells.collect::<Vec<_>>().join(" | ")));
        }
        "svg" => say(match node.attribute("aria-label") {
            Some(label) => format!("({label})"),
            None => return,
        }),
        "a" | "p" | "li" | "caption" | "figcaption" | "pre" | "title" => {
            say(format!("{}: {}", node.tag_name().name(), words(node)))
        }
        "div" if node.parent().is_some_and(|parent| parent.has_tag_name("dl")) => say(words(node)),
        "summary" => say(format!("summary: {}", words(node))),
        "section" | "header" | "nav" | "main" | "footer" | "details" | "table" | "figure" => {
            let label = node
                .attribute("aria-label")
                .map(|label| format!(" ({label})"))
                .unwrap_or_default();
            say(format!("{}{label}", node.tag_name().name()));
            node.children()
                .filter(Node::is_element)
                .for_each(|child| describe(child, depth + 1, lines));
        }
        _ => node
            .children()
            .filter(Node::is_element)
            .for_each(|child| describe(child, depth, lines)),
    }
}

fn level(node: Node<'_, '_>) -> usize {
    node.tag_name().name()[1..].parse().unwrap()
}

/// Returns all text below an element, and the descriptions of charts.
fn words(node: Node<'_, '_>) -> String {
    let below = node.descendants().filter(|below| {
        !below
            .ancestors()
            .any(|above| above.has_tag_name("svg") && above != *below)
    });
    let spoken = below.filter_map(|below| {
        if below.has_tag_name("svg") {
            below.attribute("aria-label").map(|label| format!(" ({label}) "))
        } else if ["dd", "td", "p", "pre", "li", "details"].contains(&below.tag_name().name()) {
            Some(" ".to_owned())
        } else {
            below.text().filter(|_| below.is_text()).map(str::to_owned)
        }
    });
    spoken
        .collect::<String>()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
}
