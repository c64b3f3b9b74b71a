//! What was taken and not given back.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::behaviour::{behaviour, role};
use crate::call::look;

/// What can be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Allocation,
    Reservation,
    Mapping,
    Private,
    Registration,
    Stream,
    Event,
    Module,
    Context,
}

/// How many of each kind this process has.
pub(crate) struct Ledger(BTreeMap<Kind, i64>);

impl Default for Ledger {
    fn default() -> Ledger {
        use Kind::*;
        let kinds = [
            Allocation,
            Reservation,
            Mapping,
            Private,
            Registration,
            Stream,
            Event,
            Module,
            Context,
        ];
        Ledger(kinds.into_iter().map(|kind| (kind, 0)).collect())
    }
}

impl Ledger {
    pub(crate) fn take(&mut self, kind: Kind) {
        *self.0.entry(kind).or_default() += 1;
    }

    pub(crate) fn give_back(&mut self, kind: Kind) {
        *self.0.entry(kind).or_default() -= 1;
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for (kind, count) in &self.0 {
            // Writing to a `String` cannot fail.
            let _ = writeln!(text, "{kind:?} {count}");
        }
        text
    }
}

/// Has the ledger written when the process exits.
pub(crate) fn write_at_exit() {
    if behaviour().ledger.is_some() {
        // SAFETY: the function takes nothing and the library stays loaded until the process ends.
        unsafe { libc::atexit(write) };
    }
}

extern "C" fn write() {
    let Some(folder) = &behaviour().ledger else { return };
    let text = match look().as_deref() {
        Some(Some(gpu)) => gpu.ledger.text(),
        _ => "a call has not returned\n".to_owned(),
    };
    let file = folder.join(format!("{}-{}", role(), std::process::id()));
    if let Err(error) = std::fs::write(&file, text) {
        eprintln!("fake-cuda: cannot write `{}`: {error}", file.display());
    }
}
