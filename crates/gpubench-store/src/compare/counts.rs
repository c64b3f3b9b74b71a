//! Two counts of one benchmark.

use super::difference::Difference;
use super::judgement::judge;
use super::pairing::Pair;
use super::row::{Finding, RowContext, change, doubts, without_change};
use gpubench_contract::Arrangement;
use gpubench_contract::units::percent;
use gpubench_stats::{CountedInputs, Ratio};

/// Compares counts. Those of a run that repeat exactly have no spread. Others spread with the
/// inputs, or with the order of threads.
pub(super) fn compared(pair: &Pair<'_>, context: &RowContext<'_>, differences: &[Difference]) -> Finding {
    let inputs = inputs(pair, context);
    let [baseline, candidate] = [pair.baseline, pair.candidate].map(|result| &result.samples);
    let Some(ratio) = Ratio::of_counts(baseline, candidate, inputs, context.rules.confidence) else {
        return without_change(pair, "a count of zero has no ratio".to_owned());
    };
    let threshold = context.rules.threshold(&pair.candidate.key());
    Finding {
        verdict: judge(&ratio, threshold, pair.candidate.metric.better),
        change: Some(change(&ratio, threshold, context.rules)),
        remarks: (ratio.reach() > threshold.value.ln_1p())
            .then(|| too_spread(&ratio, inputs))
            .into_iter()
            .chain(doubts(pair, context, differences))
            .collect(),
    }
}

/// Returns whether the calls of both sides had the same inputs. The seed and the name of a result
/// determine them in separate runs. A run of parts with different seeds has none. Sides that
/// alternate have inputs of their own.
fn inputs(pair: &Pair<'_>, context: &RowContext<'_>) -> CountedInputs {
    let [baseline, candidate] = context.runs.map(|run| &run.run.seed_commitment);
    let have_one_seed = baseline == candidate && !baseline.is_empty();
    let are_one_result = pair.baseline.key() == pair.candidate.key();
    if context.arrangement == Arrangement::Apart && have_one_seed && are_one_result {
        CountedInputs::Shared
    } else {
        CountedInputs::Own
    }
}

/// Returns the remark for counts that spread by more than the threshold.
fn too_spread(ratio: &Ratio, inputs: CountedInputs) -> String {
    let least = percent(ratio.reach().exp_m1());
    let (why, remedy) = match inputs {
        CountedInputs::Shared => (
            "calls on the same inputs have different counts",
            "a larger `--min-samples` for both",
        ),
        CountedInputs::Own => (
            "calls of one run have different counts",
            "the same `--seed` for both runs, or a larger `--min-samples`",
        ),
    };
    format!("{why}, so a change below {least} is not found; {remedy} finds smaller ones")
}
