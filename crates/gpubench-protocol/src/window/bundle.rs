//! Many calls in one window: in graphs, because a driver cannot queue all of them one by one.

use std::num::NonZeroU32;

/// Most launches of a window that are queued one by one. A GPU's driver blocks the host after about
/// 1 000 queued ones, and the whole window is queued before it starts.
pub const MOST_LAUNCHES: u32 = 400;

/// The number of graphs that hold the calls of a window with more launches.
pub const GRAPHS: u32 = 100;

/// Most launches of such a graph.
const LARGEST_GRAPH: u32 = 10_000;

/// Returns how often a call of `steps` launches can be repeated in a window if `wanted` times are
/// too many to be queued in any way. The calls fill the graphs of a window evenly.
pub fn repeats_in_graphs(wanted: u32, steps: u32) -> NonZeroU32 {
    let repeats = if wanted.saturating_mul(steps) <= MOST_LAUNCHES {
        wanted
    } else {
        let most = (LARGEST_GRAPH / steps.max(1)).max(1);
        wanted.div_ceil(GRAPHS).min(most) * GRAPHS
    };
    NonZeroU32::new(repeats).unwrap_or(NonZeroU32::MIN)
}

/// Returns how many calls each graph of a window holds. `None` if the calls are queued one by one.
pub fn calls_of_graphs(repeats: NonZeroU32, steps: u32) -> Option<NonZeroU32> {
    let fits = repeats.get().saturating_mul(steps) <= MOST_LAUNCHES;
    NonZeroU32::new(repeats.get() / GRAPHS).filter(|_| !fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_fill_the_graphs_of_a_window_evenly() {
        for (wanted, steps) in [(401, 1), (300_000, 1), (60, 1_000), (u32::MAX, 3), (1, 20_000)] {
            let repeats = repeats_in_graphs(wanted, steps);
            let of_each = calls_of_graphs(repeats, steps).unwrap().get();
            assert_eq!(of_each * GRAPHS, repeats.get(), "{wanted} × {steps}");
            assert!(of_each == 1 || of_each * steps <= LARGEST_GRAPH, "{wanted} × {steps}");
        }
    }

    #[test]
    fn few_launches_are_queued_one_by_one() {
        for (wanted, steps) in [(1, 1), (400, 1), (40, 10)] {
            let repeats = repeats_in_graphs(wanted, steps);
            assert_eq!((repeats.get(), calls_of_graphs(repeats, steps)), (wanted, None));
        }
        assert_eq!(
            calls_of_graphs(NonZeroU32::MIN, 1_000),
            None,
            "one call is never repeated"
        );
    }
}
