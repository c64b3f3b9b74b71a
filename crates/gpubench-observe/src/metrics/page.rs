//! The page in both of its formats.

use std::sync::Arc;

use hyper::body::Bytes;
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;

use super::family::Families;

/// The format of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// OpenMetrics 1.0, which Prometheus asks for.
    OpenMetrics,
    /// Prometheus's own text format, which node_exporter and older programs read.
    Text,
}

impl Format {
    /// The media type.
    pub fn media_type(self) -> &'static str {
        match self {
            Format::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
            Format::Text => "text/plain; version=0.0.4; charset=utf-8",
        }
    }

    /// Returns the format that a request accepts.
    pub(super) fn accepted(accept: &str) -> Self {
        if accept.contains("application/openmetrics-text") {
            Format::OpenMetrics
        } else {
            Format::Text
        }
    }
}

/// The metrics at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    open_metrics: Arc<str>,
    text: Arc<str>,
}

impl Page {
    /// Returns the page of some families.
    pub(super) fn from_families(families: Families) -> Self {
        let mut registry = Registry::default();
        registry.register_collector(Box::new(families));
        let mut page = String::new();
        // Writing to a string does not fail.
        let _ = encode(&mut page, &registry);
        Self {
            text: as_text(&page).into(),
            open_metrics: page.into(),
        }
    }

    /// Returns a page of any text.
    #[cfg(test)]
    pub(super) fn of_text(text: &str) -> Self {
        Self {
            open_metrics: text.into(),
            text: text.into(),
        }
    }

    /// Returns the page in a format, for as many answers as need it.
    pub(super) fn bytes(&self, format: Format) -> Bytes {
        Bytes::from_owner(Shared(match format {
            Format::OpenMetrics => self.open_metrics.clone(),
            Format::Text => self.text.clone(),
        }))
    }

    /// Returns the page in a format.
    pub fn format(&self, format: Format) -> &str {
        match format {
            Format::OpenMetrics => &self.open_metrics,
            Format::Text => &self.text,
        }
    }
}

/// A text that answers share.
struct Shared(Arc<str>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

/// Returns a page in the text format, where the name of a counter's family ends in `_total`, too.
fn as_text(open_metrics: &str) -> String {
    let mut text = String::with_capacity(open_metrics.len());
    let mut help = None;
    for line in open_metrics.lines() {
        let mut words = line.splitn(4, ' ');
        match (words.next(), words.next(), words.next(), words.next()) {
            (Some("#"), Some("HELP"), Some(_), Some(what)) => help = Some(what),
            (Some("#"), Some("TYPE"), Some(name), Some(kind)) => {
                let end = if kind == "counter" { "_total" } else { "" };
                if let Some(what) = help.take() {
                    text.extend(["# HELP ", name, end, " ", what, "\n"]);
                }
                text.extend(["# TYPE ", name, end, " ", kind, "\n"]);
            }
            (Some("#"), ..) => {}
            _ => text.extend([line, "\n"]),
        }
    }
    text
}
