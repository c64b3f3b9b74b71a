//! The instance of a window: its inputs and what is expected of it, made or taken into private
//! memory.

use gpubench::catalog::Role;

use super::RefereeError;
use super::buffers::Answers;
use super::case::{OpenCase, Referee};
use crate::window::{KeyPurpose, Maker, WindowId, WindowKind};
use gpubench_device::{DevicePtr, KernelHost};

impl Referee {
    /// Makes the inputs of a window in private memory, and the instance that decoys are taken from:
    /// another of the same distribution where the harness makes them, which no window shows whole;
    /// else that of the window before. Window 0 is made for that alone.
    pub(super) fn generate(&mut self, case: &OpenCase, window: u32) -> Result<(), RefereeError> {
        let place = case.place(window);
        let key = self.seeds.key(KeyPurpose::Inputs, place);
        let decoy_key = self.seeds.key(KeyPurpose::DecoyContents, place);
        let constant_key = self.seeds.key(KeyPurpose::Constants, WindowId { window: 0, ..place });
        for (index, (tensor, buffer)) in case.recording.tensors.iter().zip(&case.buffers).enumerate() {
            let Some(pristine) = &buffer.pristine else { continue };
            let driver = &mut *self.driver;
            let bytes = buffer.layout.len;
            let key = if tensor.role == Role::Constant {
                constant_key
            } else {
                key
            };
            if pristine.maker == Maker::Harness {
                for (master, key) in [(pristine.decoy, decoy_key), (pristine.current, key)] {
                    self.harness
                        .fill(driver, self.stream, master, tensor, index as u32, key)?;
                }
                continue;
            }
            // What the author made for window 0 was not taken in by a release.
            let last = match pristine.author {
                Some(author) if pristine.maker.is_author() && case.position(window) == 1 => {
                    author.address.offset(buffer.layout.offset)
                }
                _ => pristine.current,
            };
            driver.copy(self.stream, pristine.decoy, last, bytes)?;
        }
        self.run_generators(case, window)?;
        self.show_author(case)
    }

    /// Copies the inputs that the device made to an author that reads them, and waits before it
    /// reads them or makes others. Where the author has no part in them nothing waits: what comes
    /// behind them in the stream finds them made.
    fn show_author(&mut self, case: &OpenCase) -> Result<(), RefereeError> {
        let (driver, stream) = (&mut *self.driver, self.stream);
        let shared = case.buffers.iter().filter_map(|buffer| {
            let pristine = buffer.pristine.as_ref()?;
            let author = pristine.author?.address.offset(buffer.layout.offset);
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

    /// Takes what the author made for a window.
    pub(super) fn take_instance(&mut self, case: &OpenCase, kind: WindowKind, window: u32) -> Result<(), RefereeError> {
        match kind {
            WindowKind::Control => self.repeat_takings(case),
            WindowKind::Timed | WindowKind::EarlyCheck => self.take_from_author(case, window),
        }
    }

    /// Takes what the author made into private memory, where it cannot change any more: generated
    /// inputs and expected outputs. What was taken for a reference of the referee's own stays as it
    /// was taken.
    fn take_from_author(&mut self, case: &OpenCase, window: u32) -> Result<(), RefereeError> {
        if case.placement(self).reference() == KernelHost::Referee {
            return Ok(());
        }
        self.take_inputs(case)?;
        self.remember_answers(case)?;
        self.take_answers(case, |answers| answers.expected)?;
        self.keep_first_answers(case, window)
    }

    /// Copies what the author made to where it changes nothing: before a control window the device
    /// does what it does before every other.
    fn repeat_takings(&mut self, case: &OpenCase) -> Result<(), RefereeError> {
        self.take_inputs(case)?;
        self.take_answers(case, |answers| answers.snapshot)
    }

    /// Takes the inputs that the author made.
    pub(super) fn take_inputs(&mut self, case: &OpenCase) -> Result<(), RefereeError> {
        let (driver, stream) = (&mut *self.driver, self.stream);
        for buffer in &case.buffers {
            if let Some(pristine) = &buffer.pristine
                && pristine.maker.is_author()
                && let Some(author) = pristine.author
            {
                let made = author.address.offset(buffer.layout.offset);
                driver.copy(stream, pristine.current, made, buffer.layout.len)?;
            }
        }
        Ok(())
    }

    /// Takes the answers that the author made.
    fn take_answers(&mut self, case: &OpenCase, to: fn(&Answers) -> DevicePtr) -> Result<(), RefereeError> {
        let (driver, stream) = (&mut *self.driver, self.stream);
        for buffer in &case.buffers {
            if let Some(answers) = &buffer.answers
                && let Some(author) = answers.author
            {
                let made = author.address.offset(buffer.layout.offset);
                driver.copy(stream, to(answers), made, buffer.layout.len)?;
            }
        }
        Ok(())
    }

    /// Keeps what was expected of the call before.
    pub(super) fn remember_answers(&mut self, case: &OpenCase) -> Result<(), RefereeError> {
        self.keep_expected(case, |answers| answers.previous)
    }

    /// Keeps what is expected of the first call.
    pub(super) fn keep_first_answers(&mut self, case: &OpenCase, window: u32) -> Result<(), RefereeError> {
        match case.position(window) {
            1 => self.keep_expected(case, |answers| answers.first),
            _ => Ok(()),
        }
    }

    fn keep_expected(&mut self, case: &OpenCase, to: fn(&Answers) -> DevicePtr) -> Result<(), RefereeError> {
        for buffer in &case.buffers {
            if let Some(answers) = &buffer.answers {
                self.driver
                    .copy(self.stream, to(answers), answers.expected, buffer.layout.len)?;
            }
        }
        Ok(())
    }
}
