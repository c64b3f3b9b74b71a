//! The open case.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::os::fd::{AsFd, OwnedFd};

use gpubench::catalog::Recording;

use super::RefereeError;
use super::buffers::{self, Buffer};
use super::new_memory::EarlierMemory;
use super::own_kernels::OwnKernels;
use super::page::WorkerPage;
use crate::replay::FlushBuffer;
use crate::window::{Allocations, CodePlacement, MadeCalls, Seeds, WindowCalls, WindowId, WindowOwner};
use crate::wire::{BufferLayout, CaseWorkers, Differences, SourceModule};
use gpubench_device::harness::Harness;
use gpubench_device::{CopyIdentity, Driver, FrozenFile, KernelHost, Memory, Module, Stream};

/// The state of the referee for the whole run.
pub(super) struct Referee {
    pub(super) driver: Box<dyn Driver>,
    pub(super) harness: Harness,
    pub(super) stream: Stream,
    pub(super) seeds: Seeds,
    /// The process that runs kernels of references and generators.
    pub(super) kernels_run_in: KernelHost,
    /// Loaded modules of these kernels, with their files. An open file's identity cannot pass to
    /// another file.
    pub(super) modules: BTreeMap<CopyIdentity, (Module, FrozenFile)>,
    pub(super) flush: FlushBuffer,
    /// Where the wrong outputs of the last window differ from the expected ones.
    pub(super) differences_of_window: Vec<Differences>,
}

/// The open case: its buffers, the pages shared with its workers, and the crate's kernels that the
/// referee runs.
pub(super) struct OpenCase {
    /// The case, and the number before its first window.
    opening: WindowId,
    pub(super) calls: WindowCalls,
    pub(super) recording: Recording,
    /// The buffers of each side.
    pub(super) sides: Vec<Vec<Buffer>>,
    /// Memory that the buffers lay in before, the latest last.
    pub(super) earlier: EarlierMemory,
    /// What the workers map.
    allocations: Allocations,
    /// One page for each worker.
    pages: Vec<WorkerPage>,
    /// Its *go* has the number of a window right before the worker's *go* has. No worker can write
    /// it.
    pub(super) start: WorkerPage,
    pub(super) own_kernels: OwnKernels,
    pub(super) author_inputs: Cell<AuthorInputs>,
}

/// Where the author's last inputs are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AuthorInputs {
    /// In the referee's private memory.
    Taken,
    /// In the author's memory only: no window with them was released.
    Left,
}

impl OpenCase {
    /// Makes the buffers, and loads the kernels for the referee to run from `modules`. `scratch`
    /// has the sizes of the scratch allocations of each side.
    pub(super) fn open(
        referee: &mut Referee,
        opening: WindowId,
        calls: WindowCalls,
        workers_of_case: CaseWorkers,
        recording: Recording,
        scratch: &[Vec<u64>],
        modules: &[SourceModule],
    ) -> Result<OpenCase, RefereeError> {
        let placement = CodePlacement::new(&recording, referee.kernels_run_in);
        let sides = buffers::for_sides(&mut *referee.driver, &recording, calls.count, &placement, scratch)?;
        let first = sides.first().ok_or(RefereeError::Order("the case has no side"))?;
        let own_kernels = OwnKernels::load(referee, &recording, first, modules)?;
        let pages = WorkerPage::for_workers(&mut *referee.driver, workers_of_case)?;
        let start = WorkerPage::private(&mut *referee.driver)?;
        Ok(OpenCase {
            opening,
            calls,
            allocations: Allocations::new(&recording.tensors, calls.count, scratch.iter().map(Vec::len)),
            recording,
            sides,
            earlier: EarlierMemory::default(),
            pages,
            start,
            own_kernels,
            author_inputs: Cell::new(AuthorInputs::Taken),
        })
    }

    /// Returns the id of a window for keys. Window 0, which is never released, has the number
    /// before the first window.
    pub(super) fn place(&self, window: u32) -> WindowId {
        match window {
            0 => self.opening,
            window => WindowId { window, ..self.opening },
        }
    }

    /// Returns the position of a window, counted from 1; 0 for window 0.
    pub(super) fn position(&self, window: u32) -> u32 {
        window.saturating_sub(self.opening.window)
    }

    /// Returns the number of tensors of one call.
    pub(super) fn tensors_of_call(&self) -> usize {
        self.recording.tensors.len() / self.calls.count.get() as usize
    }

    /// Returns the number of tensors of the calls that a window makes. They come before all others.
    pub(super) fn tensors_of(&self, made: MadeCalls) -> usize {
        match made {
            MadeCalls::All => self.recording.tensors.len(),
            MadeCalls::First => self.tensors_of_call(),
        }
    }

    /// Returns which process runs the case's own code.
    pub(super) fn placement(&self, referee: &Referee) -> CodePlacement<'_> {
        CodePlacement::new(&self.recording, referee.kernels_run_in)
    }

    /// Returns the tensors as the first side has them. Those of all sides have the same copies of
    /// the referee.
    pub(super) fn tensors(&self) -> &[Buffer] {
        &self.sides[0][..self.recording.tensors.len()]
    }

    /// Returns the buffers of a side: its tensors, then its scratch.
    pub(super) fn buffers_of(&self, side: WindowOwner) -> Result<&[Buffer], RefereeError> {
        let side = self.sides.get(side.position());
        Ok(side.ok_or(RefereeError::Order("the case has no such side"))?)
    }

    /// Returns the number of cases that are measured alternately.
    pub(super) fn sides(&self) -> usize {
        self.sides.len()
    }

    /// Returns the buffers that have memory of their own, in the order of its descriptors.
    pub(super) fn homes(&self) -> impl Iterator<Item = &Buffer> {
        let shared = self.shared().enumerate();
        let own = shared.filter(|(position, _)| self.allocations.is_home(*position));
        own.map(|(_, buffer)| buffer)
    }

    /// Returns the buffers that workers map, each with the first side that has it.
    fn shared(&self) -> impl Iterator<Item = &Buffer> {
        let uses = self.allocations.first_uses().into_iter();
        uses.map(|(side, index)| &self.sides[side][index])
    }

    /// Returns the layouts of what workers map.
    pub(super) fn layouts(&self) -> Vec<BufferLayout> {
        self.shared().map(|buffer| buffer.layout).collect()
    }

    /// Returns the page of a worker.
    pub(super) fn page_of(&self, owner: WindowOwner) -> Result<&WorkerPage, RefereeError> {
        let page = self.pages.iter().find(|page| page.owner == owner);
        page.ok_or(RefereeError::Order("the case has no such worker"))
    }

    /// Returns descriptors of the workers' pages.
    pub(super) fn page_descriptors(&self) -> Result<Vec<OwnedFd>, RefereeError> {
        let pages = self.pages.iter();
        pages
            .map(|page| page.words.as_fd().try_clone_to_owned().map_err(RefereeError::Page))
            .collect()
    }

    /// Returns the memory that workers map.
    fn memories(&self) -> impl Iterator<Item = Memory> {
        self.homes().map(|buffer| buffer.shared.memory)
    }

    /// Returns descriptors of the memory that workers map.
    pub(super) fn shared_descriptors(&self, driver: &mut dyn Driver) -> Result<Vec<OwnedFd>, RefereeError> {
        self.memories().map(|memory| Ok(driver.export(memory)?)).collect()
    }

    /// Returns descriptors for the author, by tensor: the contents of an input, the answer of an
    /// output and its memory for a check, in this order. Tensors that the author does not need have
    /// none.
    pub(super) fn author_descriptors(&self, driver: &mut dyn Driver) -> Result<Vec<OwnedFd>, RefereeError> {
        let mut descriptors = Vec::new();
        for buffer in self.tensors() {
            let contents = buffer.pristine.as_ref().and_then(|pristine| pristine.author);
            let answer = buffer.answers.as_ref().and_then(|answers| answers.author);
            let judged = buffer.answers.as_ref().and_then(|answers| answers.judged);
            for shared in contents.into_iter().chain(answer).chain(judged) {
                descriptors.push(driver.export(shared.memory)?);
            }
        }
        Ok(descriptors)
    }

    /// Frees all buffers.
    pub(super) fn close(mut self, driver: &mut dyn Driver) {
        self.memories().for_each(|memory| driver.release(memory));
        self.earlier.release(driver);
        self.tensors().iter().for_each(|tensor| tensor.release_copies(driver));
        self.own_kernels.release(driver);
        let pages = self.pages.into_iter().chain([self.start]);
        pages.for_each(|page| page.release(driver));
    }
}
