//! The ledger of resources that were acquired and not released.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use crate::behaviour::{behaviour, role};

/// Kinds of resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Allocation,
    Reservation,
    Mapping,
    Private,
    Registration,
    Stream,
    Event,
    Graph,
    Module,
    Context,
}

const KINDS: [Kind; 10] = [
    Kind::Allocation,
    Kind::Reservation,
    Kind::Mapping,
    Kind::Private,
    Kind::Registration,
    Kind::Stream,
    Kind::Event,
    Kind::Graph,
    Kind::Module,
    Kind::Context,
];

/// The number of live resources of each kind in this process. Every change is written at once,
/// because the tool kills processes that it no longer needs.
pub(crate) struct Ledger {
    counts: [i32; KINDS.len()],
    file: Option<File>,
}

impl Ledger {
    pub(crate) fn open() -> Ledger {
        let create = |folder: &std::path::PathBuf| {
            let path = folder.join(format!("{}-{}", role(), std::process::id()));
            File::create(&path).unwrap_or_else(|error| panic!("cannot create `{}`: {error}", path.display()))
        };
        let ledger = Ledger {
            counts: [0; KINDS.len()],
            file: behaviour().ledger.as_ref().map(create),
        };
        ledger.write();
        ledger
    }

    pub(crate) fn take(&mut self, kind: Kind) {
        self.counts[kind as usize] += 1;
        self.write();
    }

    pub(crate) fn give_back(&mut self, kind: Kind) {
        self.counts[kind as usize] -= 1;
        self.write();
    }

    fn write(&self) {
        let Some(file) = &self.file else { return };
        // Lines have a fixed length, so each text overwrites the previous one.
        let lines = KINDS.iter().zip(self.counts);
        let text: String = lines.map(|(kind, count)| format!("{kind:?} {count:>6}\n")).collect();
        file.write_all_at(text.as_bytes(), 0)
            .expect("the ledger can be written");
    }
}
