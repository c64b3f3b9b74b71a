//! The broker's handle of an author.

use std::num::NonZeroU32;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::time::Duration;

use gpubench::catalog::{AxisValue, Catalog, OccupancyQuery, RecordRequest, Recording};
use gpubench::codec;
use gpubench::plan::check_counters;

use super::{Child, Interrupt, Output, RoleEnvironment, RoleFailure, RoleName};
use gpubench_device::{FrozenFile, KernelHost};
use gpubench_diagnostic::continued;
use gpubench_protocol::wire::{
    Attach, AuthorFailure, BufferLayout, CheckOrder, Frame, Generate, SandboxReport, SourceModule, encode_modules,
    from_author, module_descriptors, to_author,
};
use gpubench_sandbox::Confinement;

/// Longest failure text that is shown, in bytes.
const LONGEST_MESSAGE: usize = 8 << 10;

/// Longest name and longest axis value, in bytes.
const LONGEST_TEXT: usize = 4 << 10;

/// The author's process.
#[derive(Debug)]
pub struct AuthorClient {
    child: Child,
    confinement: Confinement,
    within: Duration,
}

/// The result of recording a case.
#[derive(Debug)]
pub enum Recorded {
    /// The recording and its encoding.
    Recording(Box<Recording>, Vec<u8>),
    /// The recording needs an occupancy that the request does not have.
    NeedsOccupancy(OccupancyQuery),
}

/// Why an author did not carry out an order.
#[derive(Debug, thiserror::Error)]
pub enum AuthorProblem {
    /// The user's code failed, or cannot be used.
    #[error("{message}")]
    Refused {
        /// The kind of failure.
        failure: AuthorFailure,
        /// The author's message.
        message: String,
    },
    /// The process failed.
    #[error(transparent)]
    Role(#[from] RoleFailure),
}

/// The buffers of a case for the author.
#[derive(Debug)]
pub struct BufferGrant<'a> {
    /// Position in the catalog.
    pub benchmark: u32,
    /// The encoded request of the recording.
    pub request: &'a [u8],
    /// The encoded recording.
    pub recording: &'a [u8],
    /// The layout of every tensor.
    pub layouts: &'a [BufferLayout],
    /// The process that runs kernels of generators and references.
    pub kernels_run_in: KernelHost,
    /// Number of calls that the recording holds, each with its own tensors.
    pub calls: NonZeroU32,
    /// Compiled kernels for the author to run, by position of their source.
    pub modules: &'a [SourceModule],
    /// Descriptors of the buffers for inputs and answers.
    pub descriptors: &'a [OwnedFd],
}

impl AuthorClient {
    /// Starts an author and makes it load a cdylib: the last file of `library`, after its
    /// dependencies. Each answer may take `within`, but for the answers about a case that is
    /// measured, which has a limit of its own.
    ///
    /// # Errors
    /// If the library cannot be used.
    pub fn spawn(
        library: &[FrozenFile],
        library_path: &[PathBuf],
        within: Duration,
        output: Output,
        interrupt: &Interrupt,
    ) -> Result<(AuthorClient, Catalog), AuthorProblem> {
        let mut author = AuthorClient::begin(library_path, within, output, interrupt)?;
        let files: Vec<_> = library.iter().map(AsFd::as_fd).collect();
        let answer = author.order(to_author::LOAD, &[], &files, interrupt)?;
        let catalog = codec::decode(&answer).map_err(|error| AuthorProblem::damaged("catalog", &error))?;
        refuse_unusable_texts(&catalog)?;
        Ok((author, catalog))
    }

    /// Starts an author without a library, which holds a file with the contents of stored tensors.
    /// The request of a case is then where each of its stored tensors begins in the file.
    ///
    /// # Errors
    /// If the process fails.
    pub fn holding(
        stored: &FrozenFile,
        within: Duration,
        output: Output,
        interrupt: &Interrupt,
    ) -> Result<AuthorClient, AuthorProblem> {
        let mut author = AuthorClient::begin(&[], within, output, interrupt)?;
        author.order(to_author::HOLD, &[], &[stored.as_fd()], interrupt)?;
        Ok(author)
    }

    fn begin(
        library_path: &[PathBuf],
        within: Duration,
        output: Output,
        interrupt: &Interrupt,
    ) -> Result<AuthorClient, AuthorProblem> {
        let environment = RoleEnvironment {
            library_path,
            ..RoleEnvironment::default()
        };
        let mut child = Child::spawn(RoleName::Author, output, environment)?;
        let frame = child.expect(from_author::SANDBOX, within, interrupt)?;
        let report: SandboxReport = child.record(&frame)?;
        Ok(AuthorClient {
            confinement: Confinement::from(&report),
            child,
            within,
        })
    }

    /// Limits the time of each further answer.
    pub(crate) fn answer_within(&mut self, within: Duration) {
        self.within = within;
    }

    /// Returns the state of the author's sandbox.
    pub fn confinement(&self) -> &Confinement {
        &self.confinement
    }

    /// Returns the process.
    pub fn child(&self) -> &Child {
        &self.child
    }

    /// Records a case.
    ///
    /// # Errors
    /// If the benchmark function or the input function fails.
    pub fn record(
        &mut self,
        benchmark: u32,
        request: &RecordRequest,
        interrupt: &Interrupt,
    ) -> Result<Recorded, AuthorProblem> {
        let parts = [bytemuck::bytes_of(&benchmark), &codec::encode(request)];
        self.child.send(to_author::RECORD, &parts, &[])?;
        let frame = self.child.receive(self.within, interrupt)?;
        if frame.kind == from_author::NEEDS_OCCUPANCY {
            let query = codec::decode(&frame.payload);
            return query
                .map(Recorded::NeedsOccupancy)
                .map_err(|error| AuthorProblem::damaged("query", &error));
        }
        let encoded = AuthorProblem::done(frame)?;
        let recording = codec::decode(&encoded).map_err(|error| AuthorProblem::damaged("recording", &error))?;
        Ok(Recorded::Recording(Box::new(recording), encoded))
    }

    /// Gives the author the buffers of a case.
    ///
    /// # Errors
    /// If they cannot be mapped.
    pub fn attach(&mut self, grant: &BufferGrant<'_>, interrupt: &Interrupt) -> Result<(), AuthorProblem> {
        let modules = encode_modules(grant.modules);
        let head = Attach {
            benchmark: grant.benchmark,
            tensors: grant.layouts.len() as u32,
            module_bytes: modules.len() as u32,
            request_bytes: grant.request.len() as u32,
            kernels_run_in: grant.kernels_run_in,
            calls: grant.calls,
        };
        let layouts = bytemuck::cast_slice(grant.layouts);
        let parts = [
            bytemuck::bytes_of(&head),
            layouts,
            &modules,
            grant.request,
            grant.recording,
        ];
        let buffers = grant.descriptors.iter().map(AsFd::as_fd);
        let descriptors: Vec<_> = buffers.chain(module_descriptors(grant.modules)).collect();
        self.order(to_author::ATTACH, &parts, &descriptors, interrupt).map(drop)
    }

    /// Makes the author generate its inputs of a window.
    ///
    /// # Errors
    /// If a generator fails.
    pub fn generate(&mut self, order: &Generate, interrupt: &Interrupt) -> Result<(), AuthorProblem> {
        self.order(to_author::GENERATE, &[bytemuck::bytes_of(order)], &[], interrupt)
            .map(drop)
    }

    /// Makes the author run the reference.
    ///
    /// # Errors
    /// If it fails.
    pub fn reference(&mut self, interrupt: &Interrupt) -> Result<(), AuthorProblem> {
        self.order(to_author::REFERENCE, &[], &[], interrupt).map(drop)
    }

    /// Makes the author check the outputs of a window. Returns the first call that it rejects, and
    /// the reason.
    ///
    /// # Errors
    /// If the check fails.
    pub fn check(&mut self, order: &CheckOrder, interrupt: &Interrupt) -> Result<Option<(u32, String)>, AuthorProblem> {
        let answer = self.order(to_author::CHECK, &[bytemuck::bytes_of(order)], &[], interrupt)?;
        let Some((call, reason)) = answer.split_first_chunk::<4>() else {
            return Ok(None);
        };
        let reason = String::from_utf8_lossy(&reason[..reason.len().min(LONGEST_MESSAGE)]);
        Ok(Some((u32::from_le_bytes(*call), continued(&reason))))
    }

    /// Makes the author release the buffers.
    ///
    /// # Errors
    /// If the process has ended.
    pub fn detach(&mut self, interrupt: &Interrupt) -> Result<(), AuthorProblem> {
        self.order(to_author::DETACH, &[], &[], interrupt).map(drop)
    }

    fn order(
        &mut self,
        kind: u32,
        parts: &[&[u8]],
        descriptors: &[std::os::fd::BorrowedFd<'_>],
        interrupt: &Interrupt,
    ) -> Result<Vec<u8>, AuthorProblem> {
        self.child.send(kind, parts, descriptors)?;
        let frame = self.child.receive(self.within, interrupt)?;
        AuthorProblem::done(frame)
    }
}

/// Rejects control characters and long texts. Names appear on terminals, where control characters
/// are commands. Every case has a copy of its names and axis values, so long ones would use much
/// memory.
fn refuse_unusable_texts(catalog: &Catalog) -> Result<(), AuthorProblem> {
    let refuse = |message| {
        Err(AuthorProblem::Refused {
            failure: AuthorFailure::Library,
            message,
        })
    };
    let problems = catalog.problems.iter().map(|problem| &problem.outline);
    for benchmark in catalog.benchmarks.iter().chain(problems) {
        let of_devices = benchmark.device_axes.iter().flat_map(|(_, axes)| axes);
        let axes = || benchmark.axes.iter().chain(of_devices.clone());
        let names = [&benchmark.path, &benchmark.problem, &benchmark.library, &benchmark.file];
        for name in names.into_iter().chain(axes().flat_map(|axis| &axis.names)) {
            if name.contains(char::is_control) {
                return refuse(format!("the name `{}` contains control characters", beginning(name)));
            }
            if name.len() > LONGEST_TEXT {
                let (name, bytes) = (beginning(name), name.len());
                return refuse(format!(
                    "the name `{name}` has {bytes} bytes; the limit is {LONGEST_TEXT}"
                ));
            }
        }
        if let Err(error) = check_counters(benchmark.counters.iter().map(String::as_str)) {
            return refuse(format!("the benchmark `{}`: {error}", benchmark.path));
        }
        for axis in axes() {
            let length = |value: &AxisValue| match value {
                AxisValue::Text(text) => text.len(),
                AxisValue::Int(_) | AxisValue::Float(_) | AxisValue::Bool(_) => 0,
            };
            if !axis.is_whole() {
                let (axis, benchmark) = (axis.title(), &benchmark.path);
                return refuse(format!(
                    "the axis `{axis}` of the benchmark `{benchmark}` has not one value for each name"
                ));
            }
            if let Some(bytes) = axis
                .values
                .iter()
                .flatten()
                .map(length)
                .find(|bytes| *bytes > LONGEST_TEXT)
            {
                return refuse(format!(
                    "the axis `{}` of the benchmark `{}` has a value of {bytes} bytes; the limit is {LONGEST_TEXT} (hint: use a short \
                     text as the value, and look the data up in the function)",
                    axis.title(),
                    benchmark.path
                ));
            }
        }
    }
    Ok(())
}

/// Returns the first 100 characters of a name, escaped.
fn beginning(name: &str) -> String {
    let shown: String = name.chars().take(100).collect();
    let more = if shown.len() < name.len() { "..." } else { "" };
    format!("{}{more}", shown.escape_debug())
}

impl AuthorProblem {
    /// Whether a function of the crate panicked.
    pub(crate) fn is_panic(&self) -> bool {
        matches!(
            self,
            AuthorProblem::Refused {
                failure: AuthorFailure::Panicked,
                ..
            }
        )
    }

    /// Returns the payload of the answer to a successful order.
    fn done(frame: Frame) -> Result<Vec<u8>, AuthorProblem> {
        match frame.kind {
            from_author::DONE => Ok(frame.payload),
            from_author::FAILED => Err(AuthorProblem::read(&frame.payload)),
            found => {
                let text = format!("it sent message `{found}` out of turn");
                Err(RoleFailure::protocol(RoleName::Author, text).into())
            }
        }
    }

    fn read(payload: &[u8]) -> AuthorProblem {
        let (number, text) = payload.split_first_chunk::<4>().unwrap_or((&[0; 4], &[]));
        // An unknown code is an internal error.
        let failure = bytemuck::checked::try_pod_read_unaligned(number).unwrap_or(AuthorFailure::Internal);
        let text = String::from_utf8_lossy(&text[..text.len().min(LONGEST_MESSAGE)]);
        let shown: String = text
            .chars()
            .map(|c| if c.is_control() && c != '\n' { ' ' } else { c })
            .collect();
        let message = continued(&shown);
        AuthorProblem::Refused { failure, message }
    }

    fn damaged(what: &str, error: &codec::DecodeError) -> AuthorProblem {
        AuthorProblem::Refused {
            failure: AuthorFailure::Library,
            message: format!("its {what} cannot be read: {error}"),
        }
    }
}

#[cfg(test)]
impl AuthorClient {
    /// An author that a test simulates.
    pub(crate) fn simulated(child: Child) -> AuthorClient {
        AuthorClient {
            child,
            confinement: Confinement::Closed,
            within: Duration::from_secs(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use gpubench::catalog::{Axis, Benchmark, Selection};

    use super::*;

    #[test]
    fn unprintable_and_long_texts_and_ragged_lists_are_rejected() {
        let refusal_with = |path: &str, axis: Axis, counters: &[&str]| {
            let benchmark = Benchmark {
                library: "lib".to_owned(),
                path: path.to_owned(),
                problem: "b".to_owned(),
                file: "src/lib.rs".to_owned(),
                line: 1,
                selection: Selection::Default,
                requirements: Vec::new(),
                axes: Vec::new(),
                own_axes: Vec::new(),
                counters: counters.iter().map(|name| (*name).to_owned()).collect(),
                device_axes: vec![(gpubench::catalog::DeviceKind::Cpu, vec![axis])],
                settings: Vec::new(),
                own_library: None,
            };
            let catalog = Catalog {
                benchmarks: vec![benchmark],
                problems: Vec::new(),
                sources: Vec::new(),
            };
            refuse_unusable_texts(&catalog).map_or_else(|problem| problem.to_string(), |()| "taken".to_owned())
        };
        let refusal_of = |path: &str, axis: Axis| refusal_with(path, axis, &["tokens"]);
        let refusal = |path: &str, axis: &str, value: usize| {
            let values = vec![AxisValue::Int(1), AxisValue::Text("v".repeat(value))];
            refusal_of(path, Axis::of(axis, values))
        };
        assert_eq!(refusal(&"p".repeat(4096), "kind", 4096), "taken");
        assert_eq!(
            refusal("b", "a\x1b", 1),
            r"the name `a\u{1b}` contains control characters"
        );
        assert_eq!(
            refusal(&"p".repeat(4097), "kind", 1),
            format!("the name `{}...` has 4097 bytes; the limit is 4096", "p".repeat(100))
        );
        assert_eq!(
            refusal("b", "kind", 4_000_000),
            "the axis `kind` of the benchmark `b` has a value of 4000000 bytes; the limit is 4096 (hint: use a short text as \
             the value, and look the data up in the function)"
        );
        let ragged = Axis {
            names: ["m", "n"].map(str::to_owned).to_vec(),
            values: vec![vec![AxisValue::Int(1)]],
        };
        assert_eq!(
            refusal_of("b", ragged),
            "the axis `(m, n)` of the benchmark `b` has not one value for each name"
        );
        let of_counters = |counters: &[&str]| refusal_with("b", Axis::of("n", Vec::new()), counters);
        assert_eq!(
            of_counters(&["a\x1b"]),
            r"the benchmark `b`: the name of a counter, `a\u{1b}`, is not 1 to 32 letters, digits and `_`"
        );
        assert_eq!(
            of_counters(&["a"; 17]),
            "the benchmark `b`: it has 17 counters; the limit is 16"
        );
    }

    #[test]
    fn later_lines_of_user_text_are_indented() {
        let payload = [&7_u32.to_le_bytes()[..], b"it is\x1b[2J wrong\nrun it alone: rm"].concat();
        let problem = AuthorProblem::read(&payload);
        assert_eq!(problem.to_string(), "it is [2J wrong\n    run it alone: rm");
    }
}
