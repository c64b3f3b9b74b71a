//! Outputs that no step of a plan can write, as far as the kernels' declarations tell. The usual
//! reason is two arguments in each other's place.

use std::collections::{BTreeMap, BTreeSet};

use gpubench::catalog::{Role, Tensor};
use gpubench::plan::{Argument, BufferId, Launch, Span};

use super::arguments::Declaration;

/// How the steps of a plan use its tensors.
#[derive(Debug, Default)]
pub(super) struct Uses {
    /// Tensors that a step may write.
    may_be_written: BTreeSet<u32>,
    /// The first use of each tensor by a parameter that points to constants.
    read: BTreeMap<u32, Read>,
}

/// A use of a tensor by a parameter that points to constants.
#[derive(Debug)]
struct Read {
    /// Place of the launch in the user's code, `src/lib.rs:17`. May be empty.
    place: String,
    /// The argument and the parameter.
    words: String,
}

impl Uses {
    /// Adds the tensors of a launch.
    pub(super) fn add_launch(&mut self, launch: &Launch, declaration: &Declaration) {
        for (position, argument) in launch.arguments.iter().enumerate() {
            match (argument, declaration.reads_through(launch, position)) {
                (Argument::Value(_), _) => {}
                (
                    Argument::Pointer {
                        buffer: BufferId::Tensor(tensor),
                        ..
                    },
                    Some(written),
                ) => {
                    self.read.entry(*tensor).or_insert_with(|| Read {
                        place: launch.place.clone(),
                        words: format!("argument {} of `{}` is `{written}`", position + 1, launch.kernel),
                    });
                }
                (Argument::Pointer { buffer, .. } | Argument::TensorMap { buffer, .. }, _) => self.add_write(*buffer),
            }
        }
    }

    /// Adds the target of a step that sets or copies bytes.
    pub(super) fn add_target(&mut self, target: &Span) {
        self.add_write(target.buffer);
    }

    fn add_write(&mut self, buffer: BufferId) {
        if let BufferId::Tensor(tensor) = buffer {
            self.may_be_written.insert(tensor);
        }
    }

    /// Refuses an output that is used, but only by parameters that point to constants. A tensor
    /// that is also an input may keep its values.
    ///
    /// # Errors
    /// The first such output.
    pub(super) fn refuse_read_only_outputs(&self, tensors: &[Tensor]) -> Result<(), String> {
        for (number, tensor) in (0..).zip(tensors) {
            let read = self.read.get(&number).filter(|_| tensor.role == Role::Output);
            if let Some(Read { place, words }) = read.filter(|_| !self.may_be_written.contains(&number)) {
                let place = if place.is_empty() {
                    String::new()
                } else {
                    format!("{place}: ")
                };
                return Err(format!(
                    "{place}no step can write the output `{}`: {words} (hint: two arguments may be in each other's place)",
                    tensor.name
                ));
            }
        }
        Ok(())
    }
}
