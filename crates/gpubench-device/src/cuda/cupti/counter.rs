//! Counts metrics of a GPU, call by call.

use cudarc::driver::sys::CUcontext;

use super::library::Library;
use super::metrics::Metrics;
use super::parameters::RangeKind;
use super::session::Session;
use crate::{Count, Counter, CounterHold, DeviceError};

/// The instructions that the warps of a kernel execute.
const INSTRUCTIONS: &str = "smsp__inst_executed.sum";

/// How long a kernel takes.
const DURATION: &str = "gpu__time_duration.sum";

/// Kernels of host code whose metrics can be read in a call.
const KERNELS_OF_HOST_CODE: usize = 1000;

/// Counts metrics in a context.
pub(in crate::cuda) struct CuptiCounter {
    library: &'static Library,
    context: CUcontext,
    hold: CounterHold,
    /// The profiler, while it has the counters.
    session: Option<Session<'static>>,
    metrics: Metrics<'static>,
    /// The names of the metrics in counts.
    names: Vec<String>,
    /// Instructions are counted in the ranges of the caller. Metrics of the hardware are read
    /// kernel by kernel, as by ncu: shares of a peak would fall with the time before and after it.
    kind: RangeKind,
    /// The names of this call's ranges.
    ranges: Vec<String>,
    progress: Progress,
    version: Option<u32>,
}

/// How far the passes are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// The next call is the first of its passes.
    First,
    /// The next call is another pass of the same ranges.
    Further,
}

// SAFETY: CUPTI's objects may be used by any thread, one at a time.
unsafe impl Send for CuptiCounter {}

impl CuptiCounter {
    /// Prepares to count instructions in a context, which is current on this thread.
    ///
    /// # Errors
    /// [`DeviceError::Absent`] when CUPTI is missing or may not count; other errors when it
    /// refuses.
    pub(in crate::cuda) fn of_instructions(
        context: CUcontext,
        ordinal: u32,
        hold: CounterHold,
    ) -> Result<CuptiCounter, DeviceError> {
        let wanted = [INSTRUCTIONS.to_owned()];
        CuptiCounter::open(
            context,
            ordinal,
            hold,
            (RangeKind::Program, vec![String::new()], &wanted),
        )
    }

    /// Prepares to read metrics of the hardware, by their names.
    ///
    /// # Errors
    /// As [`of_instructions`](Self::of_instructions), and when the hardware lacks one.
    pub(in crate::cuda) fn of_metrics(
        context: CUcontext,
        ordinal: u32,
        names: &[String],
        hold: CounterHold,
    ) -> Result<CuptiCounter, DeviceError> {
        let wanted = [names, &[DURATION.to_owned()]].concat();
        CuptiCounter::open(context, ordinal, hold, (RangeKind::Kernel, names.to_vec(), &wanted))
    }

    fn open(
        context: CUcontext,
        ordinal: u32,
        hold: CounterHold,
        (kind, names, wanted): (RangeKind, Vec<String>, &[String]),
    ) -> Result<CuptiCounter, DeviceError> {
        // The process has one counter until it ends.
        let library: &'static Library = Box::leak(Box::new(Library::open().map_err(DeviceError::Absent)?));
        // SAFETY: CUPTI reads no more than the size.
        unsafe { library.call(&library.cuptiProfilerInitialize, |_| {}) }?;
        let metrics = Metrics::schedule(library, context, ordinal, wanted)?;
        Ok(CuptiCounter {
            library,
            context,
            hold,
            session: None,
            metrics,
            names,
            kind,
            ranges: Vec::new(),
            progress: Progress::First,
            version: library.version(),
        })
    }
}

impl Counter for CuptiCounter {
    fn description(&self) -> String {
        match self.version {
            Some(version) => format!("the range profiler of CUPTI, API version {version}"),
            None => "the range profiler of CUPTI".to_owned(),
        }
    }

    fn start(&mut self, ranges: usize) -> Result<(), DeviceError> {
        self.ranges.clear();
        let session = match &mut self.session {
            Some(session) => session,
            none => none.insert(Session::enable(self.library, self.context)?),
        };
        if self.progress == Progress::First {
            let ranges = match self.kind {
                RangeKind::Program => ranges,
                RangeKind::Kernel => ranges.max(KERNELS_OF_HOST_CODE),
            };
            session.reset(&self.metrics, self.kind, ranges)?;
        }
        session.start()
    }

    fn begin(&mut self, range: &str) -> Result<(), DeviceError> {
        self.ranges.push(range.to_owned());
        match self.kind {
            // Ranges of the same name would count together.
            RangeKind::Program => session(&mut self.session)?.push(&format!("{} {range}", self.ranges.len())),
            RangeKind::Kernel => Ok(()),
        }
    }

    fn end(&mut self) -> Result<(), DeviceError> {
        match self.kind {
            RangeKind::Program => session(&mut self.session)?.pop(),
            RangeKind::Kernel => Ok(()),
        }
    }

    fn stop(&mut self) -> Result<Option<Vec<Count>>, DeviceError> {
        let session = session(&mut self.session)?;
        if !session.stop()? {
            self.progress = Progress::Further;
            return Ok(None);
        }
        self.progress = Progress::First;
        let counted = session.decode(&self.metrics)?;
        if self.hold == CounterHold::EachCall {
            self.session = None;
        }
        let values = match self.kind {
            RangeKind::Program => counted,
            RangeKind::Kernel if counted.is_empty() => {
                return Err(DeviceError::Count("the call ran no kernel".to_owned()));
            }
            RangeKind::Kernel => vec![of_kernels(&self.names, &counted)],
        };
        if values.len() != self.ranges.len() {
            let (counted, all) = (values.len(), self.ranges.len());
            return Err(DeviceError::Count(format!(
                "CUPTI counted in {counted} of {all} ranges"
            )));
        }
        let ranges = self.ranges.iter().zip(values);
        let counts = ranges.flat_map(|(range, values)| {
            let of_range = self.names.iter().zip(values).map(|(name, value)| Count {
                range: range.clone(),
                of: name.clone(),
                value,
            });
            of_range.collect::<Vec<_>>()
        });
        Ok(Some(counts.collect()))
    }
}

/// Returns the metrics of all kernels of a call from those of each, whose last value is its
/// duration: sums, extremes, and means that are weighted by the duration.
fn of_kernels(names: &[String], kernels: &[Vec<f64>]) -> Vec<f64> {
    let durations = || kernels.iter().filter_map(|values| values.last().copied());
    let all: f64 = durations().sum();
    let of_metric = |(position, name): (usize, &String)| {
        let values = || kernels.iter().filter_map(move |values| values.get(position).copied());
        match name.rsplit('.').next() {
            Some("sum") => values().sum(),
            Some("max") => values().fold(f64::NEG_INFINITY, f64::max),
            Some("min") => values().fold(f64::INFINITY, f64::min),
            _ => values().zip(durations()).map(|(value, ns)| value * ns / all).sum(),
        }
    };
    names.iter().enumerate().map(of_metric).collect()
}

fn session<'s>(session: &'s mut Option<Session<'static>>) -> Result<&'s mut Session<'static>, DeviceError> {
    session.as_mut().ok_or_else(no_call)
}

fn no_call() -> DeviceError {
    DeviceError::Count("a range began before its call".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_of_several_kernels_are_summed_or_weighted_by_their_durations() {
        let names = [
            "a.sum",
            "a.max",
            "a.min",
            "a.avg.pct_of_peak_sustained_elapsed",
            "a.pct",
        ]
        .map(String::from);
        let kernels = [
            vec![1.0, 1.0, 1.0, 10.0, 10.0, 300.0],
            vec![2.0, 2.0, 2.0, 50.0, 50.0, 100.0],
        ];
        assert_eq!(of_kernels(&names, &kernels), [3.0, 2.0, 1.0, 20.0, 20.0]);
        assert_eq!(
            of_kernels(
                &names[3..],
                &kernels[..1]
                    .iter()
                    .map(|values| values[3..].to_vec())
                    .collect::<Vec<_>>()
            ),
            [10.0, 10.0]
        );
    }
}
