//! The open case.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, OwnedFd};

use gpubench::catalog::Recording;
use gpubench_contract::Method;

use super::RefereeError;
use super::buffers::{self, Buffer};
use super::flush::FlushBuffer;
use super::own_kernels::OwnKernels;
use super::page::WorkerPage;
use crate::window::{CodePlacement, Seeds, WindowId, WindowOwner};
use crate::wire::{BufferLayout, CaseWorkers, SourceModule};
use gpubench_device::harness::Harness;
use gpubench_device::{CopyIdentity, Driver, FrozenFile, KernelHost, Module, Stream};

/// What the referee holds for the whole run.
pub(super) struct Referee {
    pub(super) driver: Box<dyn Driver>,
    pub(super) harness: Harness,
    pub(super) stream: Stream,
    pub(super) seeds: Seeds,
    /// Who runs kernels of references and generators.
    pub(super) kernels_run_in: KernelHost,
    /// Modules that were loaded for them, by the copies they were loaded from, which are held so
    /// that no other comes to be known as one of them.
    pub(super) modules: BTreeMap<CopyIdentity, (Module, FrozenFile)>,
    pub(super) flush: FlushBuffer,
}

/// The open case: its buffers, the pages shared with its workers, and what of the crate the referee
/// runs itself.
pub(super) struct OpenCase {
    /// The case, and the number behind which those of its windows begin.
    opening: WindowId,
    /// What is prepared before each call.
    pub(super) method: Method,
    pub(super) recording: Recording,
    pub(super) buffers: Vec<Buffer>,
    /// Shared with one worker each.
    pages: Vec<WorkerPage>,
    pub(super) own_kernels: OwnKernels,
}

impl OpenCase {
    /// Makes the buffers, and loads the kernels that the referee runs itself from `modules`.
    pub(super) fn open(
        referee: &mut Referee,
        opening: WindowId,
        method: Method,
        workers_of_case: CaseWorkers,
        recording: Recording,
        modules: &[SourceModule],
    ) -> Result<OpenCase, RefereeError> {
        let placement = CodePlacement::new(&recording, referee.kernels_run_in);
        let buffers = buffers::for_recording(&mut *referee.driver, &recording, &placement)?;
        let own_kernels = OwnKernels::load(referee, &recording, &buffers, modules)?;
        let pages = WorkerPage::for_cast(&mut *referee.driver, workers_of_case)?;
        Ok(OpenCase {
            opening,
            method,
            recording,
            buffers,
            pages,
            own_kernels,
        })
    }

    /// Where keys of a window are drawn. Window 0, which comes before the first and is never
    /// released, has those of the number behind which the others begin.
    pub(super) fn place(&self, window: u32) -> WindowId {
        match window {
            0 => self.opening,
            window => WindowId { window, ..self.opening },
        }
    }

    /// Which of the windows it is, counted from 1; 0 before the first.
    pub(super) fn position(&self, window: u32) -> u32 {
        window.saturating_sub(self.opening.window)
    }

    /// Who does what in the case's windows.
    pub(super) fn placement(&self, referee: &Referee) -> CodePlacement<'_> {
        CodePlacement::new(&self.recording, referee.kernels_run_in)
    }

    /// Where every buffer lies.
    pub(super) fn layouts(&self) -> Vec<BufferLayout> {
        self.buffers.iter().map(|buffer| buffer.layout).collect()
    }

    /// The page of a worker that the case has.
    pub(super) fn page_of(&self, owner: WindowOwner) -> Result<&WorkerPage, RefereeError> {
        let page = self.pages.iter().find(|page| page.owner == owner);
        page.ok_or(RefereeError::Order("the case has no such worker"))
    }

    /// Descriptors for the workers: their pages, then every buffer.
    pub(super) fn worker_descriptors(&self, driver: &mut dyn Driver) -> Result<Vec<OwnedFd>, RefereeError> {
        let mut descriptors = Vec::with_capacity(self.pages.len() + self.buffers.len());
        for page in &self.pages {
            descriptors.push(page.words.as_fd().try_clone_to_owned().map_err(RefereeError::Page)?);
        }
        for buffer in &self.buffers {
            descriptors.push(driver.export(buffer.shared.memory)?);
        }
        Ok(descriptors)
    }

    /// Descriptors for the author, tensor by tensor: contents of an input, answer of an output, or
    /// both in this order, where it has a part in them.
    pub(super) fn author_descriptors(&self, driver: &mut dyn Driver) -> Result<Vec<OwnedFd>, RefereeError> {
        let mut descriptors = Vec::new();
        for buffer in &self.buffers[..self.recording.tensors.len()] {
            let contents = buffer.pristine.as_ref().and_then(|pristine| pristine.author);
            let answer = buffer.answers.as_ref().and_then(|answers| answers.author);
            for shared in contents.into_iter().chain(answer) {
                descriptors.push(driver.export(shared.memory)?);
            }
        }
        Ok(descriptors)
    }

    /// Gives every buffer back.
    pub(super) fn close(self, driver: &mut dyn Driver) {
        self.pages.into_iter().for_each(|page| page.release(driver));
        self.own_kernels.release(driver);
        self.buffers.into_iter().for_each(|buffer| buffer.release(driver));
    }
}
