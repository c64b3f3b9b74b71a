//! The buffers of a case, in this process and in the author's.

use std::num::{NonZeroU32, NonZeroUsize};
use std::os::fd::OwnedFd;
use std::time::Duration;

use gpubench::catalog::{Recording, Role, Tensor};

use super::answers::Call;
use crate::clients::{AuthorClient, AuthorProblem, BufferGrant, Interrupt, RoleFailure};
use crate::measurement::MeasureError;
use gpubench_device::cpu::CpuDriver;
use gpubench_device::cpu::executor::ScheduleSeed;
use gpubench_device::harness::Harness;
use gpubench_device::{Access, DeviceError, DevicePtr, Driver, KernelHost, Memory, Stream};
use gpubench_protocol::window::{CodePlacement, KeyPurpose, Maker, Seeds, WindowId};
use gpubench_protocol::wire::{BufferLayout, Generate, SourceModule};

/// Why a case could not be judged.
#[derive(Debug, thiserror::Error)]
pub enum LintError {
    /// Code of the crate failed, or the user interrupted.
    #[error(transparent)]
    Measure(#[from] MeasureError),
    /// The CPU device failed.
    #[error("the CPU device failed")]
    Device(#[from] DeviceError),
}

/// A case to judge.
#[derive(Clone, Copy, Debug)]
pub struct LintCase<'a> {
    /// Number for its seeds.
    pub number: u64,
    /// Position of the benchmark in its catalog.
    pub benchmark: u32,
    /// The encoded request of the recording.
    pub request: &'a [u8],
    /// The recording.
    pub recording: &'a Recording,
    /// The encoded recording.
    pub encoded: &'a [u8],
    /// The compiled sources of its generators and its reference.
    pub own_modules: &'a [SourceModule],
}

/// Limits of time.
#[derive(Clone, Copy, Debug)]
pub struct LintLimits {
    /// For a case, after its first two calls.
    pub case: Duration,
    /// For one run of a reference or a generator.
    pub reference: Duration,
}

/// The CPU device in this process, with the comparisons of a run.
pub struct Bench {
    pub(super) driver: CpuDriver,
    pub(super) harness: Harness,
    pub(super) stream: Stream,
    seeds: Seeds,
}

impl Bench {
    /// Opens the device. The seed of all inputs follows from `master`.
    ///
    /// # Errors
    /// When this build has no CPU device.
    pub fn open(threads: Option<NonZeroUsize>, master: [u8; 32]) -> Result<Bench, DeviceError> {
        let mut driver = CpuDriver::new(threads, ScheduleSeed::default())?;
        Ok(Bench {
            harness: Harness::load(&mut driver)?,
            stream: driver.stream()?,
            driver,
            seeds: Seeds::new(master),
        })
    }

    /// Makes the buffers of a case and gives the author its part.
    pub(super) fn attach<'b>(
        &'b mut self,
        case: LintCase<'b>,
        author: &'b mut AuthorClient,
        within: Duration,
        interrupt: &'b Interrupt,
    ) -> Result<OpenLint<'b>, LintError> {
        author.answer_within(within);
        let placement = CodePlacement::new(case.recording, KernelHost::Author);
        let mut open = OpenLint {
            contents: Vec::new(),
            answers: Vec::new(),
            judged: Vec::new(),
            other_constants: Vec::new(),
            scratch: Vec::new(),
            bench: self,
            author,
            case,
            interrupt,
        };
        let mut descriptors = Vec::new();
        let mut layouts = Vec::new();
        for tensor in &case.recording.tensors {
            let layout = BufferLayout::alone(open.bench.driver.facts(), tensor.bytes());
            let layout = layout.ok_or(DeviceError::Unsupported("make a buffer of this size".to_owned()))?;
            let contents = placement.author_has_contents(tensor);
            let contents = contents
                .then(|| open.bench.share(layout, &mut descriptors))
                .transpose()?;
            open.contents.push(contents);
            let answer = placement.author_has_answer(tensor);
            let answer = answer.then(|| open.bench.share(layout, &mut descriptors)).transpose()?;
            open.answers.push(answer);
            let judged = placement.author_judges(tensor);
            let judged = judged.then(|| open.bench.share(layout, &mut descriptors)).transpose()?;
            open.judged.push(judged);
            layouts.push(layout);
        }
        let grant = BufferGrant {
            benchmark: case.benchmark,
            request: case.request,
            recording: case.encoded,
            layouts: &layouts,
            kernels_run_in: KernelHost::Author,
            calls: NonZeroU32::MIN,
            modules: case.own_modules,
            descriptors: &descriptors,
        };
        let attached = open.author.attach(&grant, interrupt);
        attached.map_err(interrupted_or(MeasureError::Attach))?;
        open.generate(0, Constants::Other)?;
        open.other_constants = open.contents_now()?;
        open.generate(0, Constants::OfTheCase)?;
        Ok(open)
    }

    fn share(&mut self, layout: BufferLayout, descriptors: &mut Vec<OwnedFd>) -> Result<Shared, DeviceError> {
        let memory = self.driver.create_host(layout.allocation)?;
        descriptors.push(self.driver.export(memory)?);
        let address = self.driver.map(memory, Access::ReadWrite)?.offset(layout.offset);
        Ok(Shared {
            memory,
            address,
            bytes: layout.len,
        })
    }
}

/// Memory that the author has, too.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shared {
    memory: Memory,
    pub(super) address: DevicePtr,
    bytes: u64,
}

/// An open case.
pub(super) struct OpenLint<'b> {
    pub(super) bench: &'b mut Bench,
    pub(super) author: &'b mut AuthorClient,
    case: LintCase<'b>,
    pub(super) interrupt: &'b Interrupt,
    /// Of each tensor: what a call reads.
    contents: Vec<Option<Shared>>,
    /// Of each tensor: what a reference writes.
    pub(super) answers: Vec<Option<Shared>>,
    /// Of each tensor: what the author's check judges, and then expects.
    pub(super) judged: Vec<Option<Shared>>,
    /// The contents of each tensor if the seed of constants were another.
    other_constants: Vec<Option<Vec<u8>>>,
    /// Private memory for two tensors that are compared, and its size.
    pub(super) scratch: Vec<(DevicePtr, u64)>,
}

/// Which constants a case has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Constants {
    OfTheCase,
    /// Those of another seed.
    Other,
}

impl<'b> OpenLint<'b> {
    pub(super) fn tensors(&self) -> &'b [Tensor] {
        &self.case.recording.tensors
    }

    pub(super) fn recording(&self) -> &'b Recording {
        self.case.recording
    }

    /// Makes the inputs of a call. Number 0 makes only those that all calls share.
    fn generate(&mut self, number: u32, constants: Constants) -> Result<(), LintError> {
        let place = |window| WindowId {
            case: self.case.number,
            window,
        };
        let seeds = &self.bench.seeds;
        let key = |purpose, window| seeds.key(purpose, place(window));
        let of_constants = match constants {
            Constants::OfTheCase => 0,
            Constants::Other => 1,
        };
        let (inputs, constants) = (
            key(KeyPurpose::Inputs, number),
            key(KeyPurpose::Constants, of_constants),
        );
        let order = Generate {
            seed: key(KeyPurpose::Generator, number),
            constant_seed: key(KeyPurpose::ConstantGenerator, of_constants),
            window: number,
            reserved: 0,
        };
        let placement = CodePlacement::new(self.case.recording, KernelHost::Author);
        for (index, (tensor, shared)) in self.case.recording.tensors.iter().zip(&self.contents).enumerate() {
            let Some(shared) = shared.filter(|_| placement.maker(tensor) == Maker::Harness) else {
                continue;
            };
            let key = if tensor.role == Role::Constant {
                constants
            } else {
                inputs
            };
            let Bench {
                driver,
                harness,
                stream,
                ..
            } = &mut *self.bench;
            harness.fill(driver, *stream, shared.address, tensor, index as u32, key)?;
        }
        self.bench.driver.synchronize(self.bench.stream)?;
        if placement.author_generates() {
            let generated = self.author.generate(&order, self.interrupt);
            generated.map_err(interrupted_or(MeasureError::Generator))?;
        }
        Ok(())
    }

    /// Makes the inputs of a call and computes its answers.
    pub(super) fn call(&mut self, number: u32) -> Result<Call, LintError> {
        self.generate(number, Constants::OfTheCase)?;
        Ok(Call {
            contents: self.contents_now()?,
            expected: self.reference()?,
        })
    }

    fn contents_now(&mut self) -> Result<Vec<Option<Vec<u8>>>, LintError> {
        let contents = self.contents.clone();
        let contents = contents.into_iter().map(|shared| self.read(shared));
        Ok(contents.collect::<Result<_, _>>()?)
    }

    /// Returns what an input could hold instead: what it held in the call `before`, or what
    /// another seed of constants gives.
    pub(super) fn other_contents(&self, input: usize, before: &Call) -> Option<Vec<u8>> {
        match self.tensors()[input].role {
            Role::Constant => self.other_constants[input].clone(),
            _ => before.contents[input].clone(),
        }
    }

    /// Runs the reference on what the inputs hold now.
    pub(super) fn reference(&mut self) -> Result<Vec<Option<Vec<u8>>>, LintError> {
        let ran = self.author.reference(self.interrupt);
        ran.map_err(interrupted_or(MeasureError::Reference))?;
        let answers = self.answers.clone();
        let answers = answers.into_iter().map(|shared| self.read(shared));
        Ok(answers.collect::<Result<_, _>>()?)
    }

    pub(super) fn read(&mut self, shared: Option<Shared>) -> Result<Option<Vec<u8>>, DeviceError> {
        let Some(shared) = shared else { return Ok(None) };
        let mut bytes = vec![0; shared.bytes as usize];
        self.bench.driver.read(shared.address, &mut bytes)?;
        Ok(Some(bytes))
    }

    /// Replaces the contents of an input.
    pub(super) fn write(&mut self, input: usize, bytes: &[u8]) -> Result<(), LintError> {
        if let Some(shared) = self.contents[input] {
            self.bench.driver.write(shared.address, bytes)?;
        }
        Ok(())
    }
}

impl Drop for OpenLint<'_> {
    fn drop(&mut self) {
        // The next case attaches its own; a process that has ended has none.
        let _ = self.author.detach(self.interrupt);
        for shared in self.contents.iter().chain(&self.answers).chain(&self.judged).flatten() {
            self.bench.driver.release(shared.memory);
        }
        for (address, _) in &self.scratch {
            self.bench.driver.free(*address);
        }
    }
}

pub(super) fn interrupted_or(wrap: fn(AuthorProblem) -> MeasureError) -> impl Fn(AuthorProblem) -> MeasureError {
    move |problem| match problem {
        AuthorProblem::Role(RoleFailure::Interrupted) => MeasureError::Interrupted,
        problem => wrap(problem),
    }
}

impl std::fmt::Debug for Bench {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bench").finish_non_exhaustive()
    }
}
