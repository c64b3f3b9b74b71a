//! The whole page.

use sha2::{Digest, Sha256};

use super::markup::{Element, Markup, element};
use super::masthead::{masthead, title};
use super::trend::Past;
use super::{attention, case, cases, comparison, devices, legend, rankings, roofline, scaling, scores};
use gpubench_contract::{ComparisonComplete, DeviceMatrix};
use gpubench_store::StoredRun;
use gpubench_store::history::HistoryEntry;

/// The style sheet.
const STYLE: &str = include_str!("style.css");

/// The data of a page.
#[derive(Clone, Copy, Debug)]
pub struct HtmlReport<'a> {
    /// The run.
    pub run: &'a StoredRun,
    /// Comparisons of the run, each with a section.
    pub comparisons: &'a [ComparisonComplete],
    /// Its results next to those of other devices.
    pub devices: Option<&'a DeviceMatrix>,
    /// Earlier runs on the same device, oldest first. May include the run itself.
    pub history: &'a [HistoryEntry],
}

impl HtmlReport<'_> {
    /// Returns the page: one file that loads nothing and runs nothing. Its content security policy
    /// enforces this.
    pub fn page(&self) -> String {
        whole(Parts {
            title: &title(self.run),
            masthead: masthead(self.run, self.comparisons),
            skip: ("#cases", "Skip to the cases"),
            sections: self.sections(),
            footer: legend::legend(),
        })
    }

    /// Returns each section with its anchor and its name in the navigation.
    fn sections(&self) -> Vec<NamedSection> {
        let run = self.run;
        let named = |id: &str, name: &str, section: Option<Element>| {
            section.map(|section| (id.to_owned(), name.to_owned(), section))
        };
        let compared = self.comparisons.iter().enumerate().map(|(position, comparison)| {
            let section = comparison::section(run, comparison, position);
            Some((
                comparison::anchor(position),
                format!("Against {}", comparison::short_name(comparison)),
                section,
            ))
        });
        let details = case::section(run, self.comparisons, &Past::before(run, self.history));
        [named(
            "attention",
            "Needs attention",
            attention::section(run, self.comparisons),
        )]
        .into_iter()
        .chain(compared)
        .chain([
            named(
                "devices",
                "Devices",
                self.devices.map(|matrix| devices::section(run, matrix)),
            ),
            named("cases", "Cases", Some(cases::section(run))),
            named("scaling", "Over an axis", scaling::section(run)),
            named("scores", "Scores", scores::section(run)),
            named("rankings", "Rankings", rankings::section(run)),
            named("roofline", "Roofline", roofline::section(run)),
            named("details", "Case details", Some(details)),
        ])
        .flatten()
        .collect()
    }
}

/// A section with its anchor and its name in the navigation.
pub(super) type NamedSection = (String, String, Element);

/// What a page consists of.
pub(super) struct Parts<'a> {
    pub(super) title: &'a str,
    pub(super) masthead: Element,
    /// Where the link for keyboards leads, and its text.
    pub(super) skip: (&'static str, &'static str),
    pub(super) sections: Vec<NamedSection>,
    pub(super) footer: Element,
}

/// Returns a page.
pub(super) fn whole(parts: Parts<'_>) -> String {
    let links = parts
        .sections
        .iter()
        .map(|(id, name, _)| element("li").child(element("a").with("href", format_args!("#{id}")).text(name)));
    let navigation = element("nav")
        .with("aria-label", "Sections")
        .child(element("ul").children(links));
    let content = parts.sections.iter().map(|(_, _, section)| section.clone());
    let (target, words) = parts.skip;
    let body = element("body")
        .child(element("a").class("skip").with("href", target).text(words))
        .child(parts.masthead)
        .child(navigation)
        .child(element("main").children(content))
        .child(element("footer").child(parts.footer));
    let page = element("html").with("lang", "en").child(head(parts.title)).child(body);
    format!("<!DOCTYPE html>\n{}\n", Markup::from(page).into_html())
}

fn head(title: &str) -> Element {
    let named = |name: &'static str, content: &str| element("meta").with("name", name).with("content", content);
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        digest(STYLE)
    );
    element("head")
        .child(element("meta").with("charset", "utf-8"))
        .child(
            element("meta")
                .with("http-equiv", "Content-Security-Policy")
                .with("content", policy),
        )
        .child(named("viewport", "width=device-width, initial-scale=1"))
        .child(named("color-scheme", "light dark"))
        .child(named("referrer", "no-referrer"))
        .child(named(
            "generator",
            concat!("cargo gpubench ", env!("CARGO_PKG_VERSION")),
        ))
        .child(element("title").text(title))
        .child(element("style").style_sheet(STYLE))
}

/// Returns the SHA-256 of a text in Base64 (RFC 4648), as a content security policy needs it.
fn digest(text: &str) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digest = Sha256::digest(text.as_bytes());
    let groups = digest.chunks(3).flat_map(|bytes| {
        let mut group = [0; 3];
        group[..bytes.len()].copy_from_slice(bytes);
        let number = u32::from_be_bytes([0, group[0], group[1], group[2]]);
        (0..4).map(move |position| {
            if position <= bytes.len() {
                char::from(LETTERS[(number >> (18 - 6 * position) & 63) as usize])
            } else {
                '='
            }
        })
    });
    groups.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_written_as_a_policy_names_it() {
        // The digest of the empty text, from FIPS 180-4.
        assert_eq!(digest(""), "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
    }

    #[test]
    fn the_style_sheet_neither_ends_itself_nor_loads_anything() {
        for forbidden in ["<", "&", "url(", "@import", "@font-face"] {
            assert!(!STYLE.contains(forbidden), "`{forbidden}`");
        }
    }
}
