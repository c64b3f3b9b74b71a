//! HTML and SVG elements. Text and attribute values are escaped when they are added. Everything
//! else comes from the tool: names of elements and attributes. The output is also well-formed XML,
//! so that a test can parse it strictly.

use std::fmt::Display;

use gpubench_contract::units::counted;
use gpubench_diagnostic::printable;

/// A piece of the page.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Markup(String);

/// An element under construction.
#[derive(Clone, Debug)]
pub(super) struct Element {
    name: &'static str,
    attributes: String,
    content: String,
}

/// Starts an element.
pub(super) fn element(name: &'static str) -> Element {
    Element {
        name,
        attributes: String::new(),
        content: String::new(),
    }
}

/// Returns a styled span of text.
pub(super) fn span(class: &'static str) -> Element {
    element("span").class(class)
}

/// Returns a table cell.
pub(super) fn cell(class: &'static str) -> Element {
    element("td").class(class)
}

/// Returns a list. `None` if it is empty.
pub(super) fn list(class: &'static str, items: impl IntoIterator<Item = Element>) -> Option<Element> {
    let items: Vec<Element> = items.into_iter().collect();
    (!items.is_empty()).then(|| element("ul").class(class).children(items))
}

/// Returns a folded list of cases. `None` if it is empty.
pub(super) fn folded_cases(title: &str, cases: Vec<Element>) -> Option<Element> {
    let summary = format!("{title}: {}", counted(cases.len(), "case"));
    Some(folded(summary).child(list("plain-list", cases)?))
}

/// Returns a note on everything below it.
pub(super) fn note(name: &'static str) -> Element {
    element(name).class("note").with("role", "note")
}

/// Returns a section with its heading. The navigation links to its `id`.
pub(super) fn section(id: &str, heading: impl Into<Markup>) -> Element {
    let title = format!("{id}-title");
    element("section")
        .with("id", id)
        .with("aria-labelledby", &title)
        .child(element("h2").with("id", &title).child(heading))
}

/// Returns folded content, which a click on `summary` opens.
pub(super) fn folded(summary: impl Display) -> Element {
    element("details").child(element("summary").text(summary))
}

/// Returns a table without rows. A column is its title, and the class for its alignment and for the
/// screens that hide it.
pub(super) fn table<Title: Into<Markup>>(
    caption: impl Into<Markup>,
    columns: impl IntoIterator<Item = (Title, &'static str)>,
) -> Element {
    let head = |(title, class)| element("th").with("scope", "col").class(class).child(title);
    let heads = element("tr").children(columns.into_iter().map(head));
    element("table")
        .child(element("caption").child(caption))
        .child(element("thead").child(heads))
}

/// Returns the first cell of a row.
pub(super) fn row_heading(what: impl Into<Markup>) -> Element {
    element("th").with("scope", "row").class("case").child(what)
}

/// Returns plain text.
pub(super) fn text(text: impl Display) -> Markup {
    Markup(escaped(&readable(&text)))
}

/// Returns a sentence of the tool. What is between two backticks is code.
pub(super) fn prose(sentence: impl Display) -> Markup {
    let sentence = readable(&sentence);
    let mut parts = sentence.split('`');
    let mut markup = Markup(escaped(parts.next().unwrap_or_default()));
    while let Some(code) = parts.next() {
        markup = match parts.next() {
            Some(after) => markup
                .then(Markup::from(element("code").child(Markup(escaped(code)))))
                .then(Markup(escaped(after))),
            None => markup.then(Markup(escaped(&format!("`{code}")))),
        };
    }
    markup
}

impl Element {
    /// Adds an attribute.
    pub(super) fn with(mut self, name: &'static str, value: impl Display) -> Element {
        let value = escaped(&readable(&value)).replace('\n', "&#10;");
        self.attributes.extend([" ", name, "=\"", &value, "\""]);
        self
    }

    /// Sets the class, if there is one.
    pub(super) fn class(self, name: &'static str) -> Element {
        match name {
            "" => self,
            name => self.with("class", name),
        }
    }

    /// Adds text.
    pub(super) fn text(self, what: impl Display) -> Element {
        self.child(text(what))
    }

    /// Adds a child.
    pub(super) fn child(mut self, child: impl Into<Markup>) -> Element {
        self.content.push_str(&child.into().0);
        self
    }

    /// Adds several children.
    pub(super) fn children<M: Into<Markup>>(self, children: impl IntoIterator<Item = M>) -> Element {
        children.into_iter().fold(self, Element::child)
    }

    /// Adds the tool's style sheet, which needs no escaping.
    pub(super) fn style_sheet(mut self, rules: &'static str) -> Element {
        self.content.push_str(rules);
        self
    }
}

impl Markup {
    /// Appends another piece.
    pub(super) fn then(mut self, next: impl Into<Markup>) -> Markup {
        self.0.push_str(&next.into().0);
        self
    }

    /// Returns the HTML.
    pub(super) fn into_html(self) -> String {
        self.0
    }
}

impl From<Element> for Markup {
    fn from(element: Element) -> Markup {
        let Element {
            name,
            attributes,
            content,
        } = element;
        Markup(if content.is_empty() && closes_itself(name) {
            format!("<{name}{attributes}/>")
        } else {
            format!("<{name}{attributes}>{content}</{name}>")
        })
    }
}

impl From<&str> for Markup {
    fn from(what: &str) -> Markup {
        text(what)
    }
}

impl<M: Into<Markup>> From<Option<M>> for Markup {
    fn from(piece: Option<M>) -> Markup {
        piece.map_or_else(Markup::default, Into::into)
    }
}

impl<M: Into<Markup>> FromIterator<M> for Markup {
    fn from_iter<I: IntoIterator<Item = M>>(pieces: I) -> Markup {
        pieces.into_iter().fold(Markup::default(), Markup::then)
    }
}

/// HTML's void elements that the page uses, and SVG shapes.
fn closes_itself(name: &str) -> bool {
    matches!(name, "meta" | "wbr" | "br" | "path" | "rect" | "line" | "circle")
}

/// Maximum number of characters shown of a text. The rest are counted.
const LONGEST: usize = 8_000;

/// Makes untrusted text harmless: [`printable`], and cut at a maximum length.
fn readable(text: &impl Display) -> String {
    let text = text.to_string();
    match text.char_indices().nth(LONGEST) {
        None => printable(&text),
        Some((end, _)) => {
            let (kept, more) = text.split_at(end);
            format!("{}… ({} more characters)", printable(kept), more.chars().count())
        }
    }
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            letter => escaped.push(letter),
        }
    }
    escaped
}

/// Returns a table that scrolls if it is too wide.
pub(super) fn scrolled(label: &str, table: Element) -> Element {
    element("div")
        .class("scrolled")
        .with("role", "region")
        .with("tabindex", "0")
        .with("aria-label", format_args!("{label}, table"))
        .child(table)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn html(element: Element) -> String {
        Markup::from(element).into_html()
    }

    #[test]
    fn text_cannot_end_its_element_and_values_cannot_end_their_quotes() {
        let hostile = "</script><img src=x onerror='alert(1)'>\"&";
        assert_eq!(
            html(element("p").with("title", hostile).text(hostile)),
            "<p title=\"&lt;/script&gt;&lt;img src=x onerror=&#39;alert(1)&#39;&gt;&quot;&amp;\">\
             &lt;/script&gt;&lt;img src=x onerror=&#39;alert(1)&#39;&gt;&quot;&amp;</p>"
        );
    }

    #[test]
    fn what_a_sentence_has_between_backticks_is_code() {
        let shown = |sentence| prose(sentence).into_html();
        assert_eq!(
            shown("use `--deny <all>` & `x`"),
            "use <code>--deny &lt;all&gt;</code> &amp; <code>x</code>"
        );
        assert_eq!(shown("one ` alone"), "one ` alone");
        assert_eq!(shown("`a` and `b"), "<code>a</code> and `b");
    }

    #[test]
    fn an_empty_element_is_closed_as_html_requires() {
        assert_eq!(html(element("td")), "<td></td>");
        assert_eq!(html(element("wbr")), "<wbr/>");
    }

    #[test]
    fn an_endless_text_is_cut_and_the_rest_counted() {
        let shown = readable(&"é".repeat(LONGEST + 5));
        assert!(shown.ends_with("é… (5 more characters)"), "{shown}");
    }

    proptest! {
        #[test]
        fn any_text_reads_back(what in any::<String>()) {
            let page = html(element("p").with("title", &what).text(&what));
            let document = roxmltree::Document::parse(&page).unwrap();
            let root = document.root_element();
            prop_assert_eq!(root.text().unwrap_or_default(), readable(&what));
            prop_assert_eq!(root.attribute("title").unwrap_or_default().replace('\n', " "), readable(&what).replace(['\n', '\t'], " "));
            prop_assert_eq!(root.children().filter(roxmltree::Node::is_element).count(), 0);
        }
    }
}
