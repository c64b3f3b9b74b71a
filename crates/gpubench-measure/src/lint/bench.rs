//! The buffers of a case, in this process and in the author's, and the check of a run.

use std::num::{NonZeroU32, NonZeroUsize};
use std::os::fd::OwnedFd;
use std::time::Duration;

use gpubench::catalog::{Recording, Role, Tensor, Tolerance};

use super::answers::Call;
use crate::clients::{AuthorClient, AuthorProblem, BufferGrant, Interrupt, RoleFailure};
use crate::measurement::MeasureError;
use gpubench_device::cpu::CpuDriver;
use gpubench_device::cpu::executor::ScheduleSeed;
use gpubench_device::harness::{Comparison, Harness};
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

/// The CPU device in this process, with the check of a run.
pub struct Bench {
    driver: CpuDriver,
    harness: Harness,
    stream: Stream,
    seeds: Seeds,
}

/// Number of elements that decide most comparisons.
const FIRST_ELEMENTS: u64 = 4096;

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
        open.generate(0)?;
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
struct Shared {
    memory: Memory,
    address: DevicePtr,
    bytes: u64,
}

/// An open case.
pub(super) struct OpenLint<'b> {
    bench: &'b mut Bench,
    author: &'b mut AuthorClient,
    case: LintCase<'b>,
    interrupt: &'b Interrupt,
    /// Of each tensor: what a call reads.
    contents: Vec<Option<Shared>>,
    /// Of each tensor: what a reference writes.
    answers: Vec<Option<Shared>>,
    /// Private memory for two tensors that are compared, and its size.
    scratch: Vec<(DevicePtr, u64)>,
}

/// A part of an output.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) start: u64,
    pub(super) len: u64,
}

impl<'b> OpenLint<'b> {
    pub(super) fn tensors(&self) -> &'b [Tensor] {
        &self.case.recording.tensors
    }

    pub(super) fn recording(&self) -> &'b Recording {
        self.case.recording
    }

    /// Makes the inputs of a call. Number 0 makes only those that all calls share.
    fn generate(&mut self, number: u32) -> Result<(), LintError> {
        let place = |window| WindowId {
            case: self.case.number,
            window,
        };
        let seeds = &self.bench.seeds;
        let key = |purpose, window| seeds.key(purpose, place(window));
        let (inputs, constants) = (key(KeyPurpose::Inputs, number), key(KeyPurpose::Constants, 0));
        let order = Generate {
            seed: key(KeyPurpose::Generator, number),
            constant_seed: key(KeyPurpose::ConstantGenerator, 0),
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
        self.generate(number)?;
        let contents = self.contents.clone();
        let contents = contents.into_iter().map(|shared| self.read(shared));
        let contents = contents.collect::<Result<_, _>>()?;
        Ok(Call {
            contents,
            expected: self.reference()?,
        })
    }

    /// Runs the reference on what the inputs hold now.
    pub(super) fn reference(&mut self) -> Result<Vec<Option<Vec<u8>>>, LintError> {
        let ran = self.author.reference(self.interrupt);
        ran.map_err(interrupted_or(MeasureError::Reference))?;
        let answers = self.answers.clone();
        let answers = answers.into_iter().map(|shared| self.read(shared));
        Ok(answers.collect::<Result<_, _>>()?)
    }

    fn read(&mut self, shared: Option<Shared>) -> Result<Option<Vec<u8>>, DeviceError> {
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

    /// Whether the check of a run accepts an answer.
    pub(super) fn accepts(
        &mut self,
        tensor: &Tensor,
        tolerance: Tolerance,
        (got, expected): (&[u8], &[u8]),
    ) -> Result<bool, LintError> {
        self.load(got, expected)?;
        let len = tensor.elements();
        self.accepts_loaded(tensor, tolerance, Part { start: 0, len })
    }

    /// Copies an answer and the expected one to where [`accepts_loaded`](Self::accepts_loaded)
    /// compares them.
    pub(super) fn load(&mut self, got: &[u8], expected: &[u8]) -> Result<(), LintError> {
        for (position, bytes) in [got, expected].into_iter().enumerate() {
            let wanted = bytes.len() as u64;
            match self.scratch.get(position).copied() {
                Some((_, size)) if size >= wanted => {}
                Some((address, _)) => {
                    self.bench.driver.free(address);
                    self.scratch[position] = (self.bench.driver.alloc(wanted)?, wanted);
                }
                None => self.scratch.push((self.bench.driver.alloc(wanted.max(1))?, wanted)),
            }
            self.bench.driver.write(self.scratch[position].0, bytes)?;
        }
        Ok(())
    }

    /// Whether the check of a run accepts a part of the loaded answer.
    pub(super) fn accepts_loaded(
        &mut self,
        tensor: &Tensor,
        tolerance: Tolerance,
        part: Part,
    ) -> Result<bool, LintError> {
        let offset = part.start * tensor.dtype.size() as u64;
        let comparison = |len| Comparison {
            got: self.scratch[0].0.offset(offset),
            expected: self.scratch[1].0.offset(offset),
            len,
            dtype: tensor.dtype,
            tolerance,
            poison_key: 0,
            poison_offset: 0,
            order_key: 0,
        };
        let (first, all) = (comparison(part.len.min(FIRST_ELEMENTS)), comparison(part.len));
        Ok(self.bench.accept(&first)? && (first.len == all.len || self.bench.accept(&all)?))
    }
}

impl Bench {
    fn accept(&mut self, comparison: &Comparison) -> Result<bool, DeviceError> {
        let mut batch = self.harness.begin(&mut self.driver, self.stream, 1)?;
        let ticket = self.harness.check(&mut self.driver, &mut batch, comparison)?;
        let found = self.harness.collect(&mut self.driver, batch)?;
        Ok(found.get(ticket)?.all_match())
    }
}

impl Drop for OpenLint<'_> {
    fn drop(&mut self) {
        // The next case attaches its own; a process that has ended has none.
        let _ = self.author.detach(self.interrupt);
        for shared in self.contents.iter().chain(&self.answers).flatten() {
            self.bench.driver.release(shared.memory);
        }
        for (address, _) in &self.scratch {
            self.bench.driver.free(*address);
        }
    }
}

fn interrupted_or(wrap: fn(AuthorProblem) -> MeasureError) -> impl Fn(AuthorProblem) -> MeasureError {
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
