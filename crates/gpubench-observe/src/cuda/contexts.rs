//! Which context each thread of a process uses: memory belongs to the one it was allocated in.

use std::collections::{BTreeSet, HashMap};

use crate::ContextHandle;

/// What a call does with contexts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContextCall {
    /// Creates one, which the thread uses then: argument 0 says where the handle goes.
    Create,
    /// Ends the one of argument 0.
    Destroy,
    /// Makes the thread use the one of argument 0.
    Use,
    /// The same, until [`Pop`](Self::Pop).
    Push,
    Pop,
    /// Gives the primary one of the device of argument 1: argument 0 says where.
    Retain,
    /// Gives up the primary one of the device of argument 0, which ends with its last user.
    Release,
    /// Ends the primary one of the device of argument 0.
    Reset,
}

impl ContextCall {
    /// Whether handles of kernels may end with the call.
    pub(crate) fn may_end_one(self) -> bool {
        matches!(self, ContextCall::Destroy | ContextCall::Release | ContextCall::Reset)
    }
}

/// The contexts of one process.
#[derive(Clone, Debug, Default)]
pub(super) struct Contexts {
    /// By thread, those it uses, the current one last.
    of_threads: HashMap<u32, Vec<ContextHandle>>,
    known: BTreeSet<ContextHandle>,
    /// By device.
    primary: HashMap<u32, Primary>,
}

#[derive(Clone, Copy, Debug)]
struct Primary {
    context: ContextHandle,
    users: u64,
}

/// Threads, contexts and devices that are remembered.
const MOST: usize = 4096;

/// Contexts that a thread stacks.
const DEEPEST: usize = 64;

impl Contexts {
    /// Returns the context that a thread allocates in, if that is known.
    pub(super) fn current(&self, thread: u32) -> ContextHandle {
        let used = self.of_threads.get(&thread).and_then(|stack| stack.last());
        used.copied().unwrap_or_else(|| self.only().unwrap_or_default())
    }

    /// Returns the only context, if there is one.
    fn only(&self) -> Option<ContextHandle> {
        self.known.first().copied().filter(|_| self.known.len() == 1)
    }

    pub(super) fn create(&mut self, thread: u32, context: ContextHandle) {
        self.learn(context);
        self.push(thread, context);
    }

    pub(super) fn push(&mut self, thread: u32, context: ContextHandle) {
        if self.of_threads.len() < MOST || self.of_threads.contains_key(&thread) {
            let stack = self.of_threads.entry(thread).or_default();
            if stack.len() < DEEPEST {
                stack.push(context);
            }
        }
    }

    pub(super) fn pop(&mut self, thread: u32) {
        if let Some(stack) = self.of_threads.get_mut(&thread) {
            stack.pop();
        }
    }

    pub(super) fn choose(&mut self, thread: u32, context: ContextHandle) {
        self.pop(thread);
        // The null context is none.
        if context != ContextHandle::default() {
            self.learn(context);
            self.push(thread, context);
        }
    }

    pub(super) fn retain(&mut self, device: u32, context: ContextHandle) {
        self.learn(context);
        if self.primary.len() < MOST || self.primary.contains_key(&device) {
            let primary = self.primary.entry(device).or_insert(Primary { context, users: 0 });
            primary.context = context;
            primary.users += 1;
        }
    }

    /// Returns the contexts that end if the last user gives the device's up.
    pub(super) fn release(&mut self, device: u32) -> Vec<ContextHandle> {
        let Some(primary) = self.primary.get_mut(&device) else {
            return Vec::new();
        };
        primary.users = primary.users.saturating_sub(1);
        match primary.users {
            0 => self.reset(device),
            _ => Vec::new(),
        }
    }

    /// Returns the contexts that end with a reset of the device.
    pub(super) fn reset(&mut self, device: u32) -> Vec<ContextHandle> {
        let primary = self.primary.remove(&device);
        primary.map_or_else(Vec::new, |primary| self.end(primary.context))
    }

    /// Returns the contexts that end with this one: of a process that was found running, also the
    /// unknown one.
    pub(super) fn end(&mut self, context: ContextHandle) -> Vec<ContextHandle> {
        self.learn(context);
        let unknown = self.only().map(|_| ContextHandle::default());
        self.known.remove(&context);
        for stack in self.of_threads.values_mut() {
            stack.retain(|used| *used != context);
        }
        self.of_threads.retain(|_, stack| !stack.is_empty());
        [context].into_iter().chain(unknown).collect()
    }

    fn learn(&mut self, context: ContextHandle) {
        if self.known.len() < MOST {
            self.known.insert(context);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNKNOWN: ContextHandle = ContextHandle(0);
    const A: ContextHandle = ContextHandle(1);
    const B: ContextHandle = ContextHandle(2);

    #[test]
    fn a_thread_uses_what_it_created_pushed_or_chose_last() {
        let mut contexts = Contexts::default();
        assert_eq!(contexts.current(7), UNKNOWN);
        contexts.create(7, A);
        assert_eq!(contexts.current(8), A, "there is no other");
        contexts.create(7, B);
        contexts.push(7, A);
        assert_eq!([7, 8].map(|thread| contexts.current(thread)), [A, UNKNOWN]);
        contexts.pop(7);
        contexts.choose(8, A);
        assert_eq!([7, 8].map(|thread| contexts.current(thread)), [B, A]);
        assert_eq!(contexts.end(B), [B]);
        assert_eq!(contexts.current(7), A);
    }

    #[test]
    fn a_primary_context_ends_with_its_last_user_or_a_reset() {
        let mut contexts = Contexts::default();
        contexts.retain(0, A);
        contexts.retain(0, A);
        contexts.retain(1, B);
        assert_eq!(contexts.release(0), []);
        assert_eq!(contexts.release(0), [A]);
        assert_eq!(contexts.release(0), []);
        assert_eq!(contexts.reset(1), [B, UNKNOWN]);
    }

    #[test]
    fn endless_contexts_of_endless_threads_take_bounded_memory() {
        let mut contexts = Contexts::default();
        for number in 0..100_000 {
            let context = ContextHandle(u64::from(number));
            contexts.create(number, context);
            contexts.push(0, context);
            contexts.retain(number, context);
        }
        let sizes = [contexts.of_threads.len(), contexts.known.len(), contexts.primary.len()];
        assert_eq!((sizes, contexts.of_threads[&0].len()), ([MOST; 3], DEEPEST));
    }
}
