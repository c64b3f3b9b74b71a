//! Counts metrics of a GPU, call by call.

use cudarc::driver::sys::CUcontext;

use super::library::Library;
use super::metrics::Metrics;
use super::session::Session;
use crate::{Count, CountRequest, Counter, DeviceError};

/// The instructions that the warps of a kernel execute.
const INSTRUCTIONS: &str = "smsp__inst_executed.sum";

/// Counts metrics in a context.
pub(in crate::cuda) struct CuptiCounter {
    library: &'static Library,
    context: CUcontext,
    /// The profiler, from the first call on.
    session: Option<Session<'static>>,
    metrics: Metrics<'static>,
    /// The names of the metrics in counts.
    names: Vec<String>,
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
    /// Prepares to count in a context, which is current on this thread.
    ///
    /// # Errors
    /// [`DeviceError::Absent`] when CUPTI is missing or may not count; other errors when it
    /// refuses.
    pub(in crate::cuda) fn open(
        context: CUcontext,
        ordinal: u32,
        request: CountRequest<'_>,
    ) -> Result<CuptiCounter, DeviceError> {
        let (names, wanted) = match request {
            CountRequest::Instructions => (vec![String::new()], vec![INSTRUCTIONS.to_owned()]),
            CountRequest::Hardware(wanted) => (wanted.to_vec(), wanted.to_vec()),
        };
        // The process has one counter until it ends.
        let library: &'static Library = Box::leak(Box::new(Library::open().map_err(DeviceError::Absent)?));
        // SAFETY: CUPTI reads no more than the size.
        unsafe { library.call(&library.cuptiProfilerInitialize, |_| {}) }?;
        let metrics = Metrics::schedule(library, context, ordinal, &wanted)?;
        Ok(CuptiCounter {
            library,
            context,
            session: None,
            metrics,
            names,
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
            session.reset(&self.metrics, ranges)?;
        }
        session.start()
    }

    fn begin(&mut self, range: &str) -> Result<(), DeviceError> {
        self.ranges.push(range.to_owned());
        // Ranges of the same name would count together.
        session(&mut self.session)?.push(&format!("{} {range}", self.ranges.len()))
    }

    fn end(&mut self) -> Result<(), DeviceError> {
        session(&mut self.session)?.pop()
    }

    fn stop(&mut self) -> Result<Option<Vec<Count>>, DeviceError> {
        let session = session(&mut self.session)?;
        if !session.stop()? {
            self.progress = Progress::Further;
            return Ok(None);
        }
        self.progress = Progress::First;
        let values = session.decode(&self.metrics, self.ranges.len())?;
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

fn session<'s>(session: &'s mut Option<Session<'static>>) -> Result<&'s mut Session<'static>, DeviceError> {
    let none = || DeviceError::Count("a range began before its call".to_owned());
    session.as_mut().ok_or_else(none)
}
