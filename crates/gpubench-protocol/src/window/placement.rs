//! Who carries out a case's own code in its windows.

use gpubench::catalog::{Fill, Recording, Reference, Role, Tensor};

use gpubench_device::KernelHost;

/// Who makes the inputs of a case and computes what is expected of it.
#[derive(Clone, Copy, Debug)]
pub struct CodePlacement<'a> {
    /// The case.
    pub recording: &'a Recording,
    /// Where its own kernels are at home.
    pub home: KernelHost,
}

/// Who makes the contents of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Maker {
    /// The referee, with the tool's own kernels.
    Harness,
    /// The referee, with a kernel of the crate.
    RefereeKernel,
    /// The author, with a kernel of the crate.
    AuthorKernel,
    /// The author, with a CPU function of the crate.
    AuthorFunction,
}

impl Maker {
    /// Whether the contents come from the author's process.
    pub fn is_author(self) -> bool {
        matches!(self, Maker::AuthorKernel | Maker::AuthorFunction)
    }
}

impl<'a> CodePlacement<'a> {
    /// The placement in a case, where its kernels are at home in `home`.
    pub fn new(recording: &'a Recording, home: KernelHost) -> CodePlacement<'a> {
        CodePlacement { recording, home }
    }

    /// Who fills an input.
    pub fn maker(&self, tensor: &Tensor) -> Maker {
        match (&tensor.fill, self.home) {
            (Fill::Cpu, _) => Maker::AuthorFunction,
            (Fill::Kernel(_), KernelHost::Author) => Maker::AuthorKernel,
            (Fill::Kernel(_), KernelHost::Referee) => Maker::RefereeKernel,
            _ => Maker::Harness,
        }
    }

    /// Who computes the expected outputs.
    pub fn reference(&self) -> KernelHost {
        match self.recording.reference {
            Reference::Author => KernelHost::Author,
            Reference::Plan(_) => self.home,
        }
    }

    /// Whether the author makes any input.
    pub fn author_generates(&self) -> bool {
        let mut tensors = self.recording.tensors.iter();
        tensors.any(|tensor| self.maker(tensor).is_author())
    }

    /// Whether the referee runs a kernel of the crate that makes an input.
    pub fn referee_generates(&self) -> bool {
        let mut tensors = self.recording.tensors.iter();
        tensors.any(|tensor| self.maker(tensor) == Maker::RefereeKernel)
    }

    /// Whether the reference is the only code of the crate that a window needs, and the referee
    /// runs it: one order then has everything made, and what takes long in it is the reference.
    pub fn referee_prepares_alone(&self) -> bool {
        let mut tensors = self.recording.tensors.iter();
        self.reference() == KernelHost::Referee && tensors.all(|tensor| self.maker(tensor) == Maker::Harness)
    }

    /// Whether the author has a part in the windows at all.
    pub fn needs_author(&self) -> bool {
        self.author_generates() || self.reference() == KernelHost::Author
    }

    /// Whether the author has memory for the contents of an input: to make them, or to read them in
    /// the reference.
    pub fn author_has_contents(&self, tensor: &Tensor) -> bool {
        tensor.role.is_input() && (self.maker(tensor).is_author() || self.reference() == KernelHost::Author)
    }

    /// Whether the author has memory for the expected contents of an output.
    pub fn author_has_answer(&self, tensor: &Tensor) -> bool {
        tensor.role.is_output() && self.reference() == KernelHost::Author
    }

    /// Allocations that referee and author share.
    pub fn author_allocations(&self) -> usize {
        let tensors = self.recording.tensors.iter();
        tensors
            .map(|tensor| usize::from(self.author_has_contents(tensor)) + usize::from(self.author_has_answer(tensor)))
            .sum()
    }

    /// Copies of a tensor that a case takes, all roles together: of an input as the worker sees it,
    /// this call's and another call's for decoys; of an output as the worker sees it, the expected
    /// ones of this call, the call before and the first, and the snapshot; and what the author has.
    pub fn copies(&self, tensor: &Tensor) -> u64 {
        let held_by_referee = match tensor.role {
            Role::Input | Role::Constant => 3,
            Role::Output => 5,
            Role::InOut => 7,
            Role::Scratch => 1,
        };
        held_by_referee + u64::from(self.author_has_contents(tensor)) + u64::from(self.author_has_answer(tensor))
    }
}
