//! Which process runs a case's own code in its windows.

use gpubench::catalog::{Fill, Recording, Reference, Role, Tensor};

use gpubench_device::KernelHost;

/// Which process makes the inputs of a case and computes the expected outputs.
#[derive(Clone, Copy, Debug)]
pub struct CodePlacement<'a> {
    /// The case.
    pub recording: &'a Recording,
    /// The process for the case's own kernels.
    pub home: KernelHost,
}

/// The process and the code that make an input.
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
    /// Whether the author makes the contents.
    pub fn is_author(self) -> bool {
        matches!(self, Maker::AuthorKernel | Maker::AuthorFunction)
    }
}

impl<'a> CodePlacement<'a> {
    /// Returns the placement for a case whose own kernels run in `home`.
    pub fn new(recording: &'a Recording, home: KernelHost) -> CodePlacement<'a> {
        CodePlacement { recording, home }
    }

    /// Returns the maker of an input.
    pub fn maker(&self, tensor: &Tensor) -> Maker {
        match (&tensor.fill, self.home) {
            (Fill::Cpu | Fill::Stored, _) => Maker::AuthorFunction,
            (Fill::Kernel(_), KernelHost::Author) => Maker::AuthorKernel,
            (Fill::Kernel(_), KernelHost::Referee) => Maker::RefereeKernel,
            _ => Maker::Harness,
        }
    }

    /// Returns the process that computes the expected outputs. With a command as the reference,
    /// these are written in the author's place.
    pub fn reference(&self) -> KernelHost {
        match self.recording.reference {
            Reference::Author | Reference::Checked | Reference::Provider(_) => KernelHost::Author,
            Reference::Plan(_) => self.home,
        }
    }

    /// Whether the author makes any input.
    pub fn author_generates(&self) -> bool {
        let mut tensors = self.recording.tensors.iter();
        tensors.any(|tensor| self.maker(tensor).is_author())
    }

    /// Whether the referee runs a generator kernel of the crate.
    pub fn referee_generates(&self) -> bool {
        let mut tensors = self.recording.tensors.iter();
        tensors.any(|tensor| self.maker(tensor) == Maker::RefereeKernel)
    }

    /// Whether the reference is the only code of the crate that a window needs, and the referee
    /// runs it. One order then prepares everything, and a timeout is the reference's.
    pub fn referee_prepares_alone(&self) -> bool {
        let mut tensors = self.recording.tensors.iter();
        self.reference() == KernelHost::Referee && tensors.all(|tensor| self.maker(tensor) == Maker::Harness)
    }

    /// Whether windows need the author at all.
    pub fn needs_author(&self) -> bool {
        let computes = self.reference() == KernelHost::Author && self.recording.reference.provider().is_none();
        self.author_generates() || computes
    }

    /// Whether the author has memory for the contents of an input, to make them or to read them in
    /// the reference.
    pub fn author_has_contents(&self, tensor: &Tensor) -> bool {
        tensor.role.is_input() && (self.maker(tensor).is_author() || self.reference() == KernelHost::Author)
    }

    /// Whether the author has memory for the expected contents of an output.
    pub fn author_has_answer(&self, tensor: &Tensor) -> bool {
        tensor.role.is_output() && self.reference() == KernelHost::Author
    }

    /// Whether the author has memory for the contents of an output after a call, to check them.
    pub fn author_judges(&self, tensor: &Tensor) -> bool {
        tensor.role.is_output() && self.recording.reference == Reference::Checked
    }

    /// Returns the number of allocations that referee and author share for a tensor.
    fn author_copies(&self, tensor: &Tensor) -> usize {
        usize::from(self.author_has_contents(tensor))
            + usize::from(self.author_has_answer(tensor))
            + usize::from(self.author_judges(tensor))
    }

    /// Returns the number of allocations that referee and author share.
    pub fn author_allocations(&self) -> usize {
        let tensors = self.recording.tensors.iter();
        tensors.map(|tensor| self.author_copies(tensor)).sum()
    }

    /// Returns how many copies of a tensor a case needs in all roles. Of an input: the worker's,
    /// this call's and another call's for decoys. Of an output: the worker's, the snapshot, and the
    /// expected ones of this, the previous and the first call. The author's copies come on top.
    pub fn copies(&self, tensor: &Tensor) -> u64 {
        let held_by_referee = match tensor.role {
            Role::Input | Role::Constant => 3,
            Role::Output => 5,
            Role::InOut => 7,
            Role::Scratch => 1,
        };
        // The fields of structs, of what is compared.
        let fields = match (&tensor.record, tensor.role) {
            (Some(_), Role::Output) => 4,
            (Some(_), Role::InOut) => 5,
            _ => 0,
        };
        held_by_referee + fields + self.author_copies(tensor) as u64
    }
}
