//! The results of the baseline of an interleaved run.

use super::other_revision::OtherRevision;
use gpubench_contract::{BenchmarkComplete, ResultKey, Revision};
use gpubench_device::compilers::Compiler;
use gpubench_stats::InterimAnalyses;
use gpubench_store::compare::AnalysesTaken;

/// The results of the baseline so far.
#[derive(Clone, Debug)]
pub(crate) struct OtherResults {
    /// The requested name of the baseline.
    pub(crate) name: String,
    /// The revision, if it is known.
    pub(crate) revision: Option<Revision>,
    /// The compiler of the kernels.
    pub(crate) compiler: String,
    /// The results of each case.
    pub(crate) results: Vec<BenchmarkComplete>,
    /// The interim analyses of each result.
    pub(crate) analyses: AnalysesTaken,
}

impl OtherResults {
    /// Returns an empty collection for a baseline.
    pub(crate) fn none_of(revision: &OtherRevision, compiler: &dyn Compiler) -> OtherResults {
        OtherResults {
            name: revision.name().to_owned(),
            revision: revision.revision(),
            compiler: compiler.identity().to_owned(),
            results: Vec::new(),
            analyses: AnalysesTaken::new(),
        }
    }

    /// Adds a result and the interim analyses that may have ended its sampling.
    pub(crate) fn add(&mut self, result: BenchmarkComplete, analyses: InterimAnalyses) {
        self.analyses.insert(result.key(), analyses);
        self.results.push(result);
    }

    /// Returns whether there is a result with a key.
    pub(crate) fn has(&self, key: &ResultKey) -> bool {
        self.results.iter().any(|result| result.key() == *key)
    }
}
