//! The first window numbers of a measurement.

/// More windows than a measurement has: even the shortest would take hours.
const MOST_WINDOWS: u32 = 1 << 24;

/// The numbers before a measurement of a case. A second measurement continues them, so it shares no
/// number, and thus no key and no input, with the first. Two inputs are the same again: constants,
/// and the inputs of CPU functions that provide the first decoys, always those of window 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Numbering {
    /// The number before the first window; 0 for a case's first measurement. No window has it. Its
    /// keys make the inputs that provide the first decoys.
    pub opening: u32,
    /// Number of control windows of the case so far.
    pub controls: usize,
}

impl Numbering {
    /// Returns the numbering after a measurement whose last window was `last`, with `controls`
    /// control windows of the case in all.
    pub fn after(last: u32, controls: usize) -> Numbering {
        Numbering {
            // With `last` itself, the first decoys would be the inputs of that window.
            opening: last + 1,
            controls,
        }
    }

    /// Returns the numbering after a measurement with this one that failed, so that nobody knows
    /// its last number.
    pub fn after_failure(self) -> Numbering {
        Numbering {
            opening: self.opening + MOST_WINDOWS,
            controls: self.controls + MOST_WINDOWS as usize,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::WindowKind;

    #[test]
    fn a_second_measurement_shares_no_window_number_with_the_first() {
        let first = Numbering::default();
        let (windows, controls) = (409, 120);
        let second = Numbering::after(first.opening + windows, first.controls + controls);
        let third = second.after_failure();
        let numbers = |numbering: Numbering| {
            let windows = numbering.opening..=numbering.opening + windows;
            let controls = (numbering.controls..numbering.controls + controls).map(WindowKind::control_window);
            windows.chain(controls).collect::<std::collections::HashSet<u32>>()
        };
        assert!(numbers(first).is_disjoint(&numbers(second)));
        assert!(numbers(third).is_disjoint(&numbers(second)) && numbers(third).is_disjoint(&numbers(first)));
    }
}
