//! Handles of kernels in a process, and the launches that wait for a name.

use std::collections::{BTreeSet, HashMap};

use super::kernels::{KernelKey, LaunchCount};
use super::limits::Budget;
use crate::{FunctionHandle, ModuleHandle};

/// Aliases of aliases that are followed.
const DEEPEST: usize = 4;

/// What a handle stands for.
#[derive(Clone, Copy, Debug)]
enum Function {
    /// A kernel whose name is known.
    Named(KernelKey),
    /// A kernel without a name until now, and its launches.
    Unnamed(LaunchCount),
    /// The kernel of another handle.
    Alias(FunctionHandle),
}

/// The handles of kernels in a process.
#[derive(Clone, Debug, Default)]
pub(super) struct Functions {
    handles: HashMap<FunctionHandle, (Function, Option<ModuleHandle>)>,
    of_modules: BTreeSet<(ModuleHandle, FunctionHandle)>,
}

impl Functions {
    /// Returns the kernel that launches of `handle` are about. `None` if it has no name yet: the
    /// launches are remembered until the name comes.
    pub(super) fn launch(
        &mut self,
        handle: FunctionHandle,
        count: LaunchCount,
        budget: &mut Budget,
    ) -> Option<KernelKey> {
        let handle = self.canonical(handle);
        if !self.handles.contains_key(&handle) && !budget.take() {
            return Some(KernelKey::Other);
        }
        let unknown = (Function::Unnamed(LaunchCount::default()), None);
        match &mut self.handles.entry(handle).or_insert(unknown).0 {
            Function::Named(kernel) => Some(*kernel),
            Function::Unnamed(waiting) => {
                waiting.merge(count);
                None
            }
            // A circle of aliases, which no program makes.
            Function::Alias(_) => Some(KernelKey::Other),
        }
    }

    /// Whether anything is known of a handle.
    pub(super) fn has(&self, handle: FunctionHandle) -> bool {
        self.handles.contains_key(&handle)
    }

    /// Returns the kernel that a handle stands for, if it has a name.
    pub(super) fn kernel_of(&self, handle: FunctionHandle) -> Option<KernelKey> {
        match self.handles.get(&self.canonical(handle)) {
            Some((Function::Named(kernel), _)) => Some(*kernel),
            _ => None,
        }
    }

    /// Returns the kernels that handles stand for.
    pub(super) fn kernels(&self) -> impl Iterator<Item = KernelKey> {
        self.handles.values().filter_map(|(function, _)| match function {
            Function::Named(kernel) => Some(*kernel),
            Function::Unnamed(_) | Function::Alias(_) => None,
        })
    }

    /// Names a handle, and returns the launches that waited for it.
    pub(super) fn name(
        &mut self,
        handle: FunctionHandle,
        kernel: KernelKey,
        module: Option<ModuleHandle>,
        budget: &mut Budget,
    ) -> LaunchCount {
        self.set(handle, Function::Named(kernel), module, budget)
    }

    /// Makes a handle stand for the kernel of another one, and returns its launches that waited for
    /// a name, with the name if it is known.
    pub(super) fn alias(
        &mut self,
        handle: FunctionHandle,
        of: FunctionHandle,
        budget: &mut Budget,
    ) -> Option<(KernelKey, LaunchCount)> {
        let of = self.canonical(of);
        if of == handle {
            return None;
        }
        match self.handles.get(&of).copied() {
            Some((Function::Named(kernel), module)) => {
                Some((kernel, self.set(handle, Function::Named(kernel), module, budget)))
            }
            _ => {
                if !self.handles.contains_key(&of) {
                    self.set(of, Function::Unnamed(LaunchCount::default()), None, budget);
                }
                let waiting = self.set(handle, Function::Alias(of), None, budget);
                match self.handles.get_mut(&of) {
                    Some((Function::Unnamed(count), _)) => {
                        count.merge(waiting);
                        None
                    }
                    _ => Some((KernelKey::Other, waiting)),
                }
            }
        }
    }

    /// Forgets the handles of a module, and returns the launches that never got a name.
    pub(super) fn unload(&mut self, module: ModuleHandle, budget: &mut Budget) -> LaunchCount {
        let range = (module, FunctionHandle(0))..=(module, FunctionHandle(u64::MAX));
        let own: Vec<_> = self.of_modules.range(range).copied().collect();
        let mut unnamed = LaunchCount::default();
        for pair in own {
            self.of_modules.remove(&pair);
            if let Some((function, _)) = self.handles.remove(&pair.1) {
                budget.give(1);
                unnamed.merge(waiting(function));
            }
        }
        unnamed
    }

    /// Forgets everything, and returns the launches that never got a name.
    pub(super) fn clear(&mut self, budget: &mut Budget) -> LaunchCount {
        budget.give(self.handles.len());
        let unnamed = self.waiting();
        *self = Functions::default();
        unnamed
    }

    /// Returns the launches that wait for a name.
    pub(super) fn waiting(&self) -> LaunchCount {
        let mut unnamed = LaunchCount::default();
        for (function, _) in self.handles.values() {
            unnamed.merge(waiting(*function));
        }
        unnamed
    }

    /// Follows aliases.
    fn canonical(&self, mut handle: FunctionHandle) -> FunctionHandle {
        for _ in 0..DEEPEST {
            match self.handles.get(&handle) {
                Some((Function::Alias(of), _)) => handle = *of,
                _ => break,
            }
        }
        handle
    }

    /// Sets what a handle stands for, and returns its launches that waited for a name.
    fn set(
        &mut self,
        handle: FunctionHandle,
        function: Function,
        module: Option<ModuleHandle>,
        budget: &mut Budget,
    ) -> LaunchCount {
        let before = self.handles.remove(&handle);
        if let Some((_, Some(module))) = before {
            self.of_modules.remove(&(module, handle));
        }
        if before.is_some() || budget.take() {
            self.handles.insert(handle, (function, module));
            self.of_modules.extend(module.map(|module| (module, handle)));
        }
        before.map_or_else(LaunchCount::default, |(function, _)| waiting(function))
    }
}

fn waiting(function: Function) -> LaunchCount {
    match function {
        Function::Unnamed(count) => count,
        Function::Named(_) | Function::Alias(_) => LaunchCount::default(),
    }
}
