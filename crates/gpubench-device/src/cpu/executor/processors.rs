//! The processors for the threads of a pool.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// A processor for each thread of a pool.
///
/// An operating system wakes a thread on the processor of the thread that wakes it. If the others
/// are busy, it may leave two threads of a pool on one processor for the life of the process. Such
/// a process is twice as slow as the next one, from its first window to its last.
pub(super) struct Processors {
    /// All processors that the process may use.
    all: CpuSet,
    /// The processor of each thread.
    of_threads: Vec<CpuSet>,
}

impl Processors {
    /// Assigns a processor to each of `threads` threads, if the process may use exactly that many.
    /// With fewer threads, they have space to move; with more, there are too few processors.
    pub(super) fn for_threads(threads: usize) -> Option<Processors> {
        let all = sched_getaffinity(None).ok()?;
        let alone = |processor: usize| {
            let mut set = CpuSet::new();
            set.set(processor);
            set
        };
        let usable = (0..CpuSet::MAX_CPU).filter(|processor| all.is_set(*processor));
        let of_threads: Vec<CpuSet> = usable.map(alone).collect();
        (threads > 1 && of_threads.len() == threads).then_some(Processors { all, of_threads })
    }

    /// Binds the calling thread to the processor of the pool's thread `number`.
    pub(super) fn bind(&self, thread: usize) {
        if let Some(own) = self.of_threads.get(thread) {
            allow(own);
        }
    }

    /// Lets the calling thread run on all processors.
    pub(super) fn release(&self) {
        allow(&self.all);
    }
}

/// If the operating system refuses, the thread stays where it may run already. The results of
/// kernels do not depend on it.
fn allow(processors: &CpuSet) {
    let _ = sched_setaffinity(None, processors);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn here() -> u32 {
        sched_getaffinity(None).unwrap().count()
    }

    #[test]
    fn threads_are_bound_only_if_there_are_as_many_processors() {
        std::thread::spawn(|| {
            let usable = here();
            let threads = usable as usize;
            assert!(Processors::for_threads(threads + 1).is_none());
            assert!(Processors::for_threads(1).is_none());
            // A machine with one processor has nothing to assign.
            let Some(processors) = Processors::for_threads(threads) else {
                return assert_eq!(usable, 1);
            };
            processors.bind(threads - 1);
            assert_eq!(here(), 1);
            processors.release();
            assert_eq!(here(), usable);
        })
        .join()
        .unwrap();
    }
}
