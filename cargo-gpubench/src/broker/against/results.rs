//! What came of the other revision of a run.

use super::other_revision::OtherRevision;
use crate::broker::cases::Case;
use gpubench_contract::{BenchmarkComplete, Revision};
use gpubench_device::compilers::Compiler;
use gpubench_stats::InterimAnalyses;
use gpubench_store::compare::{AnalysesTaken, CaseKey};

/// What came of the other revision so far.
#[derive(Clone, Debug)]
pub(crate) struct OtherResults {
    /// What was asked for.
    pub(crate) name: String,
    /// What that is, where it is known.
    pub(crate) revision: Option<Revision>,
    /// What compiled its kernels.
    pub(crate) compiler: String,
    /// A result for each of its cases.
    pub(crate) results: Vec<BenchmarkComplete>,
    /// How often they were looked at.
    pub(crate) analyses: AnalysesTaken,
}

impl OtherResults {
    /// Results of a revision before there are any.
    pub(crate) fn none_of(revision: &OtherRevision, compiler: &dyn Compiler) -> OtherResults {
        OtherResults {
            name: revision.name().to_owned(),
            revision: revision.revision(),
            compiler: compiler.identity().to_owned(),
            results: Vec::new(),
            analyses: AnalysesTaken::new(),
        }
    }

    /// Keeps a result that may have been looked at so often before there were no more samples.
    pub(crate) fn keep_looked_at(&mut self, result: BenchmarkComplete, analyses: InterimAnalyses) {
        self.analyses.insert(CaseKey::of(&result), analyses);
        self.results.push(result);
    }

    /// Whether there is a result of a case.
    pub(crate) fn has(&self, case: &Case) -> bool {
        let name = case.full_name();
        self.results.iter().any(|result| result.full_name() == name)
    }
}
