//! Who follows a case while it is measured.

/// Follows a case while it is measured.
pub trait Watcher {
    /// There is another sample; these are all of them so far in nanoseconds, together and of each
    /// worker.
    fn sampled(&mut self, samples: &[f64], of_workers: &[&[f64]]);

    /// The case is measured once more: the samples so far do not count for what follows.
    fn begins_again(&mut self) {}

    /// It could not be: the samples before that are the case's after all.
    fn goes_back(&mut self) {}

    /// How many other processes have computed on the device since the case began, where that is
    /// known.
    fn other_clients(&mut self) -> Option<u32> {
        None
    }
}

/// Looks at the samples alone.
impl<F: FnMut(&[f64])> Watcher for F {
    fn sampled(&mut self, samples: &[f64], _: &[&[f64]]) {
        self(samples);
    }
}
