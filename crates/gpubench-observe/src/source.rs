//! Where events come from.

use gpubench_diagnostic::Failure;

use crate::{Driver, DriverCall, Event, LeftOut};

/// Gives the events of the observed processes: the observer of a machine, or a recording.
pub trait Source {
    /// Gives the events that wait to `sink`, and returns how many they were. Returns at once, with
    /// 0 if none waits. The events of a process come in the order in which its calls were recorded,
    /// after its beginning and before its end.
    ///
    /// # Errors
    ///
    /// If events cannot be read any more.
    fn poll(&mut self, sink: &mut dyn FnMut(Event)) -> Result<usize, Failure>;

    /// Returns how often each observed function of the driver was called, exact even where events
    /// are lost. Functions without calls may be absent.
    fn totals(&self) -> Vec<FunctionTotal>;

    /// Returns how many events were lost until now: calls, beginnings and ends of processes, and
    /// processes that ended before the driver they used could be observed.
    fn lost(&self) -> u64;

    /// Returns the files of the driver that are probed. More may be found later.
    fn drivers(&self) -> Vec<Driver> {
        Vec::new()
    }

    /// Returns what is not observed, and why, as sentences for people. They may change.
    fn notices(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns what a filter leaves out. `None` without one.
    fn left_out(&self) -> Option<LeftOut> {
        None
    }
}

/// How often a function of the driver was called, in all observed processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionTotal {
    /// The function.
    pub call: DriverCall,
    /// Calls that began.
    pub entries: u64,
    /// Calls that returned, where returns are counted.
    pub returns: u64,
    /// Calls that returned an error.
    pub errors: u64,
    /// Calls whose event was lost.
    pub dropped: u64,
}
