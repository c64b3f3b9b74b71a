//! Sets of inputs whose expected outputs a command has computed before the first worker lives.
//!
//! Each worker gets the sets in order, each at most once. The next worker is another process, which
//! knows nothing of the calls of this one, and gets the same sets again. Cases that alternate share
//! none, so what one sees is never shown to another that lives at the same time. The next mode of a
//! case has other workers again, so it gets the same sets if its windows have as many calls.

use std::fs::File;
use std::io;
use std::num::NonZeroU32;
use std::rc::Rc;

use gpubench::catalog::{Provider, Recording, Role, Tensor};

use super::case::{CasesInTurns, ReadyCase};
use super::error::MeasureError;
use super::protocol::Protocol;
use super::run_mode::RunMode;
use crate::clients::OpenedCase;
use crate::provider::{Exchange, ProviderError, SetTensor, copy, run, shown};
use crate::timeline::{self, Track};
use gpubench_contract::units::size;
use gpubench_protocol::window::{CodePlacement, name_of_one_call};
use gpubench_protocol::wire::BufferLayout;

pub use earlier::EarlierSets;

/// Most bytes of the inputs and outputs of all sets.
pub(super) const MOST_BYTES: u64 = 4 << 30;

/// Most sets of a worker, so that a command with a short call does not take long.
const MOST_SETS: u32 = 512;

/// Fewest sets of a worker: some for the warm-up, for samples, and [`RESERVED`].
const FEWEST_SETS: u32 = 12;

/// Sets that warm-up and samples leave: for the parts of a call, its energy, and the windows after
/// a wrong output.
const RESERVED: u32 = 6;

/// Sets for the warm-up of a worker.
const WARM_UP: u32 = 32;

/// Sets of a worker that tests or that is profiled or audited.
const SETS_OF_TEST: u32 = 16;
const SETS_OF_PROFILE: u32 = 64;

/// How many sets each worker may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SetLimit(u32);

impl SetLimit {
    /// Returns the notice about a worker that stopped because it had used its sets.
    pub(super) fn notice(self) -> String {
        format!(
            "a worker stopped after {} calls: the command that is the reference has computed the outputs of no more (hint: they may \
             have {} in all and {MOST_SETS} for each worker)",
            self.0.saturating_sub(RESERVED),
            size(MOST_BYTES)
        )
    }

    /// Whether a worker that has used `used` sets may warm up further.
    pub(super) fn allows_warm_up(self, used: usize) -> bool {
        used < (self.0 / 4) as usize
    }

    /// Whether a worker that has used `used` sets may take further samples.
    pub(super) fn allows_samples(self, used: usize) -> bool {
        used < self.0.saturating_sub(RESERVED) as usize
    }
}

/// The sets of an opened case.
#[derive(Debug)]
pub(super) struct InputSets {
    computed: Rc<ComputedSets>,
    /// What is written before a window of a set.
    parts: Vec<Part>,
}

/// What a command was given and has computed.
#[derive(Debug)]
struct ComputedSets {
    /// Number of the window before the first one whose inputs are a set.
    opening: u32,
    extent: Extent,
    inputs: Contents,
    outputs: Contents,
}

/// The tensors of all sets in a file.
#[derive(Debug)]
struct Contents {
    file: File,
    /// Their positions in a call.
    listed: Vec<usize>,
    tensors: Vec<SetTensor>,
    /// Where those of the first set begin.
    starts: Vec<u64>,
}

/// A tensor in the memory that the referee reads.
#[derive(Debug)]
struct Part {
    memory: File,
    offset: u64,
    bytes: u64,
    place: Place,
}

/// Where the contents of the tensor are in a file.
#[derive(Clone, Copy, Debug)]
struct Place {
    file: SetFile,
    /// Where those of the first set begin.
    start: u64,
    /// Bytes from one set to the next.
    step: u64,
}

/// The file of a command that has the contents of a set.
#[derive(Clone, Copy, Debug)]
enum SetFile {
    Inputs,
    Outputs,
}

/// The memory of a tensor that the referee shares.
pub(super) struct Shared<'m> {
    pub(super) tensor: &'m Tensor,
    pub(super) layout: &'m BufferLayout,
    /// Its contents, if it is an input.
    pub(super) contents: Option<File>,
    /// Its expected contents, if it is an output.
    pub(super) answer: Option<File>,
    /// Whether the author makes its contents.
    pub(super) is_made_by_author: bool,
}

/// Which sets there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Extent {
    of_worker: NonZeroU32,
    sides: u32,
    calls: NonZeroU32,
}

impl Extent {
    /// Returns the number of windows that have sets of their own.
    fn windows(self) -> u32 {
        self.of_worker.get() * self.sides
    }

    /// Returns the number of sets.
    fn sets(self) -> u64 {
        u64::from(self.windows()) * u64::from(self.calls.get())
    }
}

/// The tensors of a window's calls, and the sets of them that are wanted.
struct Wanted<'m> {
    shared: Vec<Shared<'m>>,
    extent: Extent,
}

impl Wanted<'_> {
    /// Returns how many tensors a call has.
    fn of_call(&self) -> usize {
        self.shared.len() / self.extent.calls.get() as usize
    }

    /// Returns the positions in a call of the tensors that are in a file.
    fn listed(&self, is_listed: impl Fn(&Shared<'_>) -> bool) -> Vec<usize> {
        let first = self.shared[..self.of_call()].iter().enumerate();
        let listed = first.filter(|(_, tensor)| is_listed(tensor));
        listed.map(|(position, _)| position).collect()
    }

    /// Returns the positions in a call of the tensors that the command reads.
    fn read(&self) -> Vec<usize> {
        self.listed(|tensor| tensor.contents.is_some())
    }

    /// Returns the positions in a call of the tensors that the command writes.
    fn written(&self) -> Vec<usize> {
        self.listed(|tensor| tensor.answer.is_some())
    }

    /// Describes the tensors of a file with `sets` sets. All sets of a tensor are one, the sets its
    /// outermost dimension.
    fn described(&self, listed: &[usize], sets: u64) -> Vec<SetTensor> {
        let describe = |position: &usize| {
            let tensor = self.shared[*position].tensor;
            let sets = std::iter::once(sets);
            SetTensor {
                name: name_of_one_call(&tensor.name, self.extent.calls).to_owned(),
                dtype: tensor.dtype,
                shape: match tensor.role {
                    Role::Constant => tensor.shape.clone(),
                    _ => sets.chain(tensor.shape.iter().copied()).collect(),
                },
            }
        };
        listed.iter().map(describe).collect()
    }

    /// Writes the inputs of a window to the file, and the constants with those of the first.
    fn put(&self, exchange: &Exchange<'_>, read: &[usize], window: u32) -> Result<(), ProviderError> {
        for (position, tensor) in self.shared.iter().enumerate() {
            let (call, of_call) = (position / self.of_call(), position % self.of_call());
            let input = read.iter().position(|read| *read == of_call);
            let (Some(input), Some(contents)) = (input, &tensor.contents) else {
                continue;
            };
            let bytes = tensor.tensor.bytes();
            let set = u64::from(window) * u64::from(self.extent.calls.get()) + call as u64;
            let before = match (tensor.tensor.role, set) {
                (Role::Constant, 0) => 0,
                (Role::Constant, _) => continue,
                _ => set * bytes,
            };
            exchange.put(input, before, contents, tensor.layout.offset, bytes)?;
        }
        Ok(())
    }

    /// Returns what is written before a window of a set.
    fn parts(&self, inputs: &Contents, outputs: &Contents) -> io::Result<Vec<Part>> {
        let mut parts = Vec::new();
        for (position, tensor) in self.shared.iter().enumerate() {
            let (call, of_call) = ((position / self.of_call()) as u64, position % self.of_call());
            let bytes = tensor.tensor.bytes();
            // A function of the author may not make the same contents twice.
            let again = tensor.is_made_by_author && tensor.tensor.role != Role::Constant;
            let contents = tensor.contents.as_ref().filter(|_| again);
            let both = [
                (contents, SetFile::Inputs, inputs),
                (tensor.answer.as_ref(), SetFile::Outputs, outputs),
            ];
            for (memory, file, contents) in both {
                let row = contents.listed.iter().position(|listed| *listed == of_call);
                let (Some(memory), Some(row)) = (memory, row) else {
                    continue;
                };
                parts.push(Part {
                    memory: memory.try_clone()?,
                    offset: tensor.layout.offset,
                    bytes,
                    place: Place {
                        file,
                        start: contents.starts[row] + call * bytes,
                        step: bytes * u64::from(self.extent.calls.get()),
                    },
                });
            }
        }
        Ok(parts)
    }
}

impl InputSets {
    /// Makes the inputs of the sets, each by `prepare` with the number of a window, and runs the
    /// command for their expected outputs, unless it has computed enough of them for an earlier
    /// mode. No worker may live.
    ///
    /// # Errors
    /// If a generator or the command fails, or the user interrupts.
    pub(super) fn compute(
        provider: &Provider,
        turns: &CasesInTurns<'_>,
        protocol: &Protocol<'_>,
        shared: Vec<Shared<'_>>,
        earlier: &mut EarlierSets,
        opening: u32,
        mut prepare: impl FnMut(u32) -> Result<(), MeasureError>,
    ) -> Result<InputSets, MeasureError> {
        let wanted = Wanted {
            shared,
            extent: extent(turns, protocol).map_err(MeasureError::Provider)?,
        };
        prepare(0)?;
        let computed = match earlier.serving(turns.source.number, opening, &wanted) {
            Some(computed) => computed,
            None => {
                let computed = Rc::new(ComputedSets::of(provider, protocol, &wanted, opening, prepare)?);
                earlier.keep(turns.source.number, &computed);
                computed
            }
        };
        let parts = wanted.parts(&computed.inputs, &computed.outputs);
        Ok(InputSets {
            parts: parts.map_err(unusable(provider))?,
            computed,
        })
    }

    /// Returns how many sets each worker may use.
    pub(super) fn limit(&self) -> SetLimit {
        SetLimit(self.computed.extent.of_worker.get())
    }

    /// Returns the last number of a window whose inputs are a set.
    pub(super) fn last(&self) -> u32 {
        self.computed.opening + self.computed.extent.windows()
    }

    /// Returns the number of the window whose inputs a side's worker gets that has used `used`
    /// sets. `None` if it has used all.
    pub(super) fn next(&self, side: usize, used: usize) -> Option<u32> {
        let (side, used) = (u32::try_from(side).ok()?, u32::try_from(used).ok()?);
        let ComputedSets { opening, extent, .. } = &*self.computed;
        let is_one = side < extent.sides && used < extent.of_worker.get();
        is_one.then(|| opening + 1 + side * extent.of_worker.get() + used)
    }

    /// Writes what is not made again before a window: the expected outputs, and inputs that the
    /// author made.
    ///
    /// # Errors
    /// If a file or a buffer fails.
    pub(super) fn write(&self, window: u32) -> Result<(), MeasureError> {
        let set = u64::from(window.saturating_sub(self.computed.opening + 1));
        for part in &self.parts {
            let file = match part.place.file {
                SetFile::Inputs => &self.computed.inputs.file,
                SetFile::Outputs => &self.computed.outputs.file,
            };
            let start = part.place.start + set * part.place.step;
            let copied = copy(file, start, &part.memory, part.offset, part.bytes);
            copied.map_err(|source| MeasureError::Sets { source })?;
        }
        Ok(())
    }
}

impl ComputedSets {
    /// Whether there are as many sets as are wanted, of the same tensors.
    fn serve(&self, wanted: &Wanted<'_>) -> bool {
        let (has, wants) = (self.extent, wanted.extent);
        let are_of = |contents: &Contents, listed: Vec<usize>| {
            let described = wanted.described(&listed, has.sets());
            contents.listed == listed && contents.tensors == described
        };
        (has.sides, has.calls) == (wants.sides, wants.calls)
            && has.of_worker >= wants.of_worker
            && are_of(&self.inputs, wanted.read())
            && are_of(&self.outputs, wanted.written())
    }

    /// Makes the inputs, and runs the command.
    fn of(
        provider: &Provider,
        protocol: &Protocol<'_>,
        wanted: &Wanted<'_>,
        opening: u32,
        mut prepare: impl FnMut(u32) -> Result<(), MeasureError>,
    ) -> Result<ComputedSets, MeasureError> {
        let (sets, read, written) = (wanted.extent.sets(), wanted.read(), wanted.written());
        let given = wanted.described(&read, sets);
        let exchange = Exchange::begin(provider, &given, sets).map_err(MeasureError::provider)?;
        for window in 0..wanted.extent.windows() {
            if protocol.interrupt.is_set() {
                return Err(MeasureError::Interrupted);
            }
            prepare(opening + 1 + window)?;
            wanted.put(&exchange, &read, window).map_err(MeasureError::provider)?;
        }
        let said = {
            let _runs = timeline::span(Track::Command, "runs the reference");
            let [from, to] = exchange.paths();
            run(provider, [&from, &to], protocol.reference_within, protocol.interrupt)
                .map_err(MeasureError::provider)?
        };
        let asked = wanted.described(&written, sets);
        let (outputs, output_starts) = exchange.outputs(&asked, sets, &said).map_err(MeasureError::provider)?;
        let (inputs, input_starts) = exchange.inputs();
        Ok(ComputedSets {
            opening,
            extent: wanted.extent,
            inputs: Contents {
                file: inputs.try_clone().map_err(unusable(provider))?,
                listed: read,
                tensors: given,
                starts: input_starts.to_vec(),
            },
            outputs: Contents {
                file: outputs,
                listed: written,
                tensors: asked,
                starts: output_starts,
            },
        })
    }
}

fn unusable(provider: &Provider) -> impl Fn(io::Error) -> MeasureError + '_ {
    |source| {
        MeasureError::Provider(ProviderError::Files {
            command: shown(provider),
            doing: "sharing memory",
            source,
        })
    }
}

/// Returns the memory of each tensor.
pub(super) fn shared<'m>(
    recording: &'m Recording,
    placement: &CodePlacement<'_>,
    opened: &OpenedCase,
    layouts: &'m [BufferLayout],
) -> Result<Vec<Shared<'m>>, MeasureError> {
    let mut descriptors = opened.author_descriptors.iter();
    let mut next = |is_shared: bool| -> Result<Option<File>, MeasureError> {
        if !is_shared {
            return Ok(None);
        }
        let missing = io::ErrorKind::NotFound.into();
        let descriptor = descriptors.next().ok_or(MeasureError::Sets { source: missing })?;
        let own = descriptor.try_clone().map_err(|source| MeasureError::Sets { source })?;
        Ok(Some(File::from(own)))
    };
    let tensors = recording.tensors.iter().zip(layouts);
    tensors
        .map(|(tensor, layout)| {
            let contents = next(placement.author_has_contents(tensor))?;
            let answer = next(placement.author_has_answer(tensor))?;
            // What a check judges belongs to one window alone.
            next(placement.author_judges(tensor))?;
            Ok(Shared {
                tensor,
                layout,
                contents,
                answer,
                is_made_by_author: tensor.role.is_input() && placement.maker(tensor).is_author(),
            })
        })
        .collect()
}

/// Returns how many sets there are.
fn extent(turns: &CasesInTurns<'_>, protocol: &Protocol<'_>) -> Result<Extent, ProviderError> {
    let sides = u32::try_from(turns.arms.len()).unwrap_or(u32::MAX).max(1);
    let wanted = wanted(turns.source, protocol);
    let bytes = bytes_of_window(turns.source.recording)
        .max(1)
        .saturating_mul(sides.into());
    let most = u32::try_from(MOST_BYTES / bytes).unwrap_or(u32::MAX);
    let fewest = FEWEST_SETS.min(wanted);
    match NonZeroU32::new(wanted.min(most)) {
        Some(of_worker) if of_worker.get() >= fewest => Ok(Extent {
            of_worker,
            sides,
            calls: turns.source.calls.count,
        }),
        _ => Err(ProviderError::TooLarge {
            fewest: fewest * sides * turns.source.calls.count.get(),
            bytes: bytes.saturating_mul(fewest.into()),
            limit: MOST_BYTES,
        }),
    }
}

/// Returns the bytes of what the calls of a window read and write.
fn bytes_of_window(recording: &Recording) -> u64 {
    let tensors = recording.tensors.iter().map(|tensor| match tensor.role {
        Role::Input | Role::Output => tensor.bytes(),
        Role::InOut => 2 * tensor.bytes(),
        Role::Constant | Role::Scratch => 0,
    });
    tensors.sum()
}

/// Returns how many sets a worker would use without a limit on their bytes.
fn wanted(case: &ReadyCase<'_>, protocol: &Protocol<'_>) -> u32 {
    match protocol.mode {
        RunMode::Test => SETS_OF_TEST,
        RunMode::Profile(_) | RunMode::Audit(_) => SETS_OF_PROFILE,
        RunMode::Measure => {
            let samples = u32::try_from(protocol.worker_rules().rule(0).max_samples).unwrap_or(u32::MAX);
            // Early checks, and windows that make one of several calls.
            let others = match case.calls.count {
                NonZeroU32::MIN => samples / 4,
                _ => samples,
            };
            let all = samples.saturating_add(others).saturating_add(WARM_UP + RESERVED);
            all.clamp(FEWEST_SETS, MOST_SETS)
        }
    }
}

mod earlier;
#[cfg(test)]
mod tests;
