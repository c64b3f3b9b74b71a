//! Lists of labelled facts.

use super::markup::{Element, Markup, element, text};

/// A list of facts.
#[derive(Default)]
pub(super) struct Facts(Vec<Element>);

impl Facts {
    /// Adds a fact.
    pub(super) fn and(mut self, term: &str, fact: impl Into<Markup>) -> Facts {
        let term = element("dt").text(term);
        let fact = element("dd").child(fact);
        self.0.push(element("div").child(term).child(fact));
        self
    }

    /// Adds a fact if it is known.
    pub(super) fn and_known(self, term: &str, fact: Option<impl std::fmt::Display>) -> Facts {
        match fact {
            Some(fact) => self.and(term, text(fact)),
            None => self,
        }
    }

    /// Returns the list. `None` if it is empty.
    pub(super) fn list(self) -> Option<Element> {
        (!self.0.is_empty()).then(|| element("dl").class("facts").children(self.0))
    }
}
