//! Compares a wrong call with the same call in another order of blocks and threads.

use gpubench_protocol::wire::{OutputFacts, WindowEnd, WindowFacts};

/// Relative errors and differences that sums in another order can cause.
const ROUNDING: f64 = 1e-3;

/// One element in this many may be near the tolerance.
const FEW: u64 = 100;

/// Whether a wrong call has other outputs in another order of blocks and threads, by more than
/// rounding. Both calls have the same inputs.
pub(crate) fn are_differently_wrong(usual: &WindowFacts, other: &WindowFacts) -> bool {
    let outputs = || usual.outputs().iter().zip(other.outputs());
    let is_far_off = |output: &OutputFacts| output.non_finite + output.unwritten > 0 || output.max_rel > ROUNDING;
    other.end == WindowEnd::Checked
        && outputs().any(|(one, other)| is_far_off(one) && one.matched != one.elements && differ(one, other))
}

/// A few elements near the tolerance may pass in one order only, by rounding.
fn differ(one: &OutputFacts, other: &OutputFacts) -> bool {
    let counts = |output: &OutputFacts| (output.unwritten, output.non_finite);
    let few = one.elements / FEW;
    let scale = one.max_abs.abs().max(other.max_abs.abs());
    counts(one) != counts(other)
        || one.matched.abs_diff(other.matched) > few
        || (one.max_abs - other.max_abs).abs() > ROUNDING * scale
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A call of 600 elements of which `wrong` are wrong by `error` at most, for values near 1.
    fn call(wrong: u64, error: f64) -> WindowFacts {
        let mut facts = <WindowFacts as bytemuck::Zeroable>::zeroed();
        facts.end = WindowEnd::Checked;
        facts.output_count = 1;
        facts.outputs[0].elements = 600;
        facts.outputs[0].matched = 600 - wrong;
        facts.outputs[0].max_abs = error;
        facts.outputs[0].max_rel = error;
        facts
    }

    #[test]
    fn other_wrong_elements_are_another_output() {
        assert!(are_differently_wrong(&call(600, 0.5), &call(600, 0.7)));
        assert!(are_differently_wrong(&call(64, 0.5), &call(32, 0.5)));
        assert!(are_differently_wrong(&call(64, 0.5), &call(0, 0.0)));
    }

    #[test]
    fn outputs_with_other_numbers_of_unwritten_or_non_finite_elements_differ() {
        let changes: [fn(&mut WindowFacts); 2] = [
            |facts| facts.outputs[0].unwritten = 1,
            |facts| facts.outputs[0].non_finite = 1,
        ];
        for change in changes {
            let (plain, mut changed) = (call(64, 0.5), call(64, 0.5));
            change(&mut changed);
            assert!(are_differently_wrong(&plain, &changed) && are_differently_wrong(&changed, &plain));
            assert!(!are_differently_wrong(&changed, &changed));
            // Such an element has no error.
            changed.outputs[0].max_rel = 0.0;
            assert!(are_differently_wrong(&changed, &plain));
        }
    }

    #[test]
    fn a_right_output_next_to_a_wrong_one_may_change() {
        let mut usual = call(0, 0.5);
        let other = call(64, 0.5);
        assert!(!are_differently_wrong(&usual, &other));
        (usual.output_count, usual.outputs[1]) = (2, call(64, 0.5).outputs[0]);
        let mut both = other;
        (both.output_count, both.outputs[1]) = (2, call(32, 0.5).outputs[0]);
        assert!(are_differently_wrong(&usual, &both));
    }

    #[test]
    fn the_same_outputs_and_sums_in_another_order_are_not() {
        assert!(!are_differently_wrong(&call(600, 0.5), &call(600, 0.5)));
        assert!(!are_differently_wrong(&call(600, 0.5), &call(600, 0.500_001)));
        assert!(!are_differently_wrong(&call(7, 2e-7), &call(9, 3e-7)));
        assert!(!are_differently_wrong(&call(600, 0.5), &call(599, 0.5)));
        let mut unchecked = call(0, 0.0);
        unchecked.end = WindowEnd::NotDone;
        assert!(!are_differently_wrong(&call(600, 0.5), &unchecked));
    }
}
