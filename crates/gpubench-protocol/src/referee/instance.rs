//! Inputs and expected outputs of a window, made or copied into private memory.

use gpubench::catalog::Role;

use super::RefereeError;
use super::buffers::Answers;
use super::case::{AuthorInputs, OpenCase, Referee};
use crate::window::{KeyPurpose, Maker, WindowContent, WindowId, WindowKind};
use gpubench_device::{DevicePtr, KernelHost};

impl Referee {
    /// Makes the inputs of a window in private memory, and the contents for decoys. If the harness
    /// makes the inputs, the decoys are other contents of the same distribution that no window
    /// shows whole. Otherwise they are the inputs made before; window 0 and others that are never
    /// released are made only for them.
    pub(super) fn generate(&mut self, case: &OpenCase, window: u32) -> Result<(), RefereeError> {
        let place = case.place(window);
        let key = self.seeds.key(KeyPurpose::Inputs, place);
        let decoy_key = self.seeds.key(KeyPurpose::DecoyContents, place);
        let constant_key = self.seeds.key(KeyPurpose::Constants, WindowId { window: 0, ..place });
        for (index, (tensor, buffer)) in case.recording.tensors.iter().zip(case.tensors()).enumerate() {
            let Some(pristine) = &buffer.pristine else { continue };
            let driver = &mut *self.driver;
            let bytes = buffer.layout.len;
            // Constants are the same in all calls of a window.
            let (key, index) = match tensor.role {
                Role::Constant => (constant_key, index % case.tensors_of_call()),
                _ => (key, index),
            };
            if pristine.maker == Maker::Harness {
                for (master, key) in [(pristine.decoy, decoy_key), (pristine.current, key)] {
                    self.harness
                        .fill(driver, self.stream, master, tensor, index as u32, key)?;
                }
                continue;
            }
            let last = match (pristine.author, case.author_inputs.get()) {
                (Some(author), AuthorInputs::Left) if pristine.maker.is_author() => author.address,
                _ => pristine.current,
            };
            driver.copy(self.stream, pristine.decoy, last, bytes)?;
        }
        case.author_inputs.set(AuthorInputs::Left);
        self.run_generators(case, window)?;
        self.copy_to_author(case)
    }

    /// Copies the inputs that the device made to an author that needs them, and waits. Without such
    /// an author it does not wait: later work in the stream follows the inputs anyway.
    fn copy_to_author(&mut self, case: &OpenCase) -> Result<(), RefereeError> {
        let (driver, stream) = (&mut *self.driver, self.stream);
        let shared = case.tensors().iter().filter_map(|buffer| {
            let pristine = buffer.pristine.as_ref()?;
            let author = pristine.author?.address;
            Some((pristine, author, buffer.layout.len))
        });
        let shared: Vec<_> = shared.collect();
        if shared.is_empty() {
            return Ok(());
        }
        for (pristine, author, bytes) in shared {
            if !pristine.maker.is_author() {
                driver.copy(stream, author, pristine.current, bytes)?;
            }
        }
        Ok(driver.synchronize(stream)?)
    }

    /// Copies the author's inputs and answers of a window.
    pub(super) fn take_instance(&mut self, case: &OpenCase, kind: WindowKind, window: u32) -> Result<(), RefereeError> {
        match kind.content() {
            WindowContent::Twin | WindowContent::Nothing => self.repeat_copies(case),
            WindowContent::Call => self.take_from_author(case, window),
        }
    }

    /// Copies the author's inputs and answers into private memory, where they cannot change any
    /// more. If the referee runs the reference, it has copied the inputs already.
    fn take_from_author(&mut self, case: &OpenCase, window: u32) -> Result<(), RefereeError> {
        if case.placement(self).reference() == KernelHost::Referee {
            return Ok(());
        }
        self.take_inputs(case)?;
        self.keep_previous_answers(case)?;
        self.take_answers(case, |answers| answers.expected)?;
        self.keep_first_answers(case, window)
    }

    /// Copies the author's data without effect, so that the device does the same work before a
    /// control window as before every other.
    fn repeat_copies(&mut self, case: &OpenCase) -> Result<(), RefereeError> {
        self.take_inputs(case)?;
        self.take_answers(case, |answers| answers.snapshot)
    }

    /// Copies the author's inputs.
    pub(super) fn take_inputs(&mut self, case: &OpenCase) -> Result<(), RefereeError> {
        let (driver, stream) = (&mut *self.driver, self.stream);
        for buffer in case.tensors() {
            if let Some(pristine) = &buffer.pristine
                && pristine.maker.is_author()
                && let Some(author) = pristine.author
            {
                driver.copy(stream, pristine.current, author.address, buffer.layout.len)?;
            }
        }
        case.author_inputs.set(AuthorInputs::Taken);
        Ok(())
    }

    /// Copies the author's answers.
    fn take_answers(&mut self, case: &OpenCase, to: fn(&Answers) -> DevicePtr) -> Result<(), RefereeError> {
        let (driver, stream) = (&mut *self.driver, self.stream);
        for buffer in case.tensors() {
            if let Some(answers) = &buffer.answers
                && let Some(author) = answers.author
            {
                driver.copy(stream, to(answers), author.address, buffer.layout.len)?;
            }
        }
        Ok(())
    }

    /// Keeps the previous call's answers.
    pub(super) fn keep_previous_answers(&mut self, case: &OpenCase) -> Result<(), RefereeError> {
        self.keep_expected(case, |answers| answers.previous)
    }

    /// Keeps the first call's answers.
    pub(super) fn keep_first_answers(&mut self, case: &OpenCase, window: u32) -> Result<(), RefereeError> {
        match case.position(window) {
            1 => self.keep_expected(case, |answers| answers.first),
            _ => Ok(()),
        }
    }

    fn keep_expected(&mut self, case: &OpenCase, to: fn(&Answers) -> DevicePtr) -> Result<(), RefereeError> {
        for buffer in case.tensors() {
            if let Some(answers) = &buffer.answers {
                self.driver
                    .copy(self.stream, to(answers), answers.expected, buffer.layout.len)?;
            }
        }
        Ok(())
    }
}
