//! Where the numbers of a measurement's windows begin.

/// What went before a measurement of a case. Another measurement of it goes on behind these
/// numbers, so that it has no number of the first, and none of the keys and inputs that depend on
/// one: constants are the same again, and of inputs that a CPU function makes the instance that the
/// first decoys are taken from, which is always that of window 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Numbering {
    /// The number behind which those of the windows begin; 0 for a case's first measurement. No
    /// window has it: its keys are those of the instance that comes before the first window.
    pub opening: u32,
    /// Control windows that the case has had.
    pub controls: usize,
}

impl Numbering {
    /// Where a measurement goes on behind one whose last window has the number `last`, and in which
    /// the case came to `controls` control windows.
    pub fn behind(last: u32, controls: usize) -> Numbering {
        Numbering {
            // Not `last` itself: the instance that comes before the first window would be the
            // inputs of that window.
            opening: last + 1,
            controls,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::WindowKind;

    #[test]
    fn a_second_measurement_has_no_number_of_the_first() {
        let first = Numbering::default();
        let (windows, controls) = (409, 120);
        let second = Numbering::behind(first.opening + windows, first.controls + controls);
        let numbers = |numbering: Numbering| {
            let windows = numbering.opening..=numbering.opening + windows;
            let controls = (numbering.controls..numbering.controls + controls).map(WindowKind::control_window);
            windows.chain(controls).collect::<std::collections::HashSet<u32>>()
        };
        assert!(numbers(first).is_disjoint(&numbers(second)));
    }
}
