//! Kernels by name.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use crate::Execution;

use super::demangle::{LONGEST, demangled, shortened};

/// Which kernel a row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KernelKey {
    /// A kernel with a name in [`KernelNames`]. No other name gets the same number later.
    Named(u64),
    /// Kernels whose names the driver never told.
    Unnamed,
    /// Kernels beyond a limit.
    Other,
}

/// The name of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelName {
    /// As the driver has it.
    pub mangled: Arc<str>,
    /// As its author wrote it.
    pub demangled: Arc<str>,
}

/// How often a kernel was launched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaunchCount {
    /// Launches that run.
    pub launches: u64,
    /// Launches into a capture.
    pub captured: u64,
}

impl LaunchCount {
    pub(super) fn new(execution: Execution, count: u64) -> LaunchCount {
        match execution {
            Execution::Runs => LaunchCount {
                launches: count,
                captured: 0,
            },
            Execution::Captured => LaunchCount {
                launches: 0,
                captured: count,
            },
        }
    }

    pub(super) fn merge(&mut self, other: LaunchCount) {
        self.launches += other.launches;
        self.captured += other.captured;
    }

    pub(super) fn is_zero(self) -> bool {
        self == LaunchCount::default()
    }
}

/// The names of all kernels.
#[derive(Clone, Debug, Default)]
pub struct KernelNames {
    keys: HashMap<Arc<str>, KernelKey>,
    names: HashMap<KernelKey, KernelName>,
    next: u64,
    given_up: u64,
    turned_away: u64,
}

impl KernelNames {
    /// Returns the name of a kernel, if it has one.
    pub fn name(&self, key: KernelKey) -> Option<&KernelName> {
        self.names.get(&key)
    }

    /// Returns how many names were given up to make room for others.
    pub fn given_up(&self) -> u64 {
        self.given_up
    }

    /// Returns how often a kernel got no name, since there was no room for it.
    pub fn turned_away(&self) -> u64 {
        self.turned_away
    }

    /// Whether this name is known or there is room for it.
    pub(super) fn takes(&self, mangled: &Arc<str>, limit: usize) -> bool {
        self.names.len() < limit || self.keys.contains_key(&kept(mangled))
    }

    /// Returns the kernel of this name. Up to `limit` names have their own.
    pub(super) fn key_of(&mut self, mangled: &Arc<str>, limit: usize) -> KernelKey {
        let mangled = kept(mangled);
        if let Some(key) = self.keys.get(&mangled) {
            return *key;
        }
        if self.names.len() >= limit {
            self.turned_away += 1;
            return KernelKey::Other;
        }
        let key = KernelKey::Named(self.next);
        self.next += 1;
        let demangled = demangled(&mangled).into();
        self.keys.insert(mangled.clone(), key);
        self.names.insert(key, KernelName { mangled, demangled });
        key
    }

    /// Gives up names that nothing is `used` by any more, those with the fewest launches first: all
    /// if they are few, else half of them, so that the next names find room without another search.
    pub(super) fn give_up(
        &mut self,
        used: &HashSet<KernelKey>,
        launches: impl Fn(KernelKey) -> u64,
        limit: usize,
    ) -> HashSet<KernelKey> {
        let mut unused: Vec<_> = self.names.keys().filter(|key| !used.contains(key)).copied().collect();
        unused.sort_by_key(|key| (launches(*key), *key));
        let kept = if unused.len() > limit / 4 { unused.len() / 2 } else { 0 };
        unused.truncate(unused.len() - kept);
        for key in &unused {
            if let Some(name) = self.names.remove(key) {
                self.keys.remove(&name.mangled);
            }
        }
        self.given_up += unused.len() as u64;
        unused.into_iter().collect()
    }
}

/// Returns the name that is kept. A long one is cut, and told apart from others with the same
/// beginning by a hash.
fn kept(mangled: &Arc<str>) -> Arc<str> {
    if mangled.len() <= LONGEST {
        return mangled.clone();
    }
    let mut hasher = DefaultHasher::new();
    mangled.hash(&mut hasher);
    format!("{}#{:016x}", shortened(mangled), hasher.finish()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endless_names_with_the_same_beginning_are_two_kernels_and_stay_small() {
        let mut names = KernelNames::default();
        let [a, b] = ["a", "b"].map(|end| names.key_of(&("k".repeat(100_000) + end).into(), 8));
        assert_ne!(a, b);
        assert!(names.names.values().all(|name| name.mangled.len() < LONGEST + 20));
    }

    #[test]
    fn a_name_beyond_the_limit_is_another_kernel_and_known_ones_stay() {
        let mut names = KernelNames::default();
        let first = names.key_of(&"first".into(), 1);
        assert_eq!(names.key_of(&"second".into(), 1), KernelKey::Other);
        assert_eq!(names.key_of(&"first".into(), 1), first);
    }

    #[test]
    fn long_names_that_begin_alike_are_different_kernels() {
        let mut names = KernelNames::default();
        let [whole, one, other] =
            [("a", 1023), ("b", 1024), ("c", 1024)].map(|(end, length)| Arc::<str>::from("x".repeat(length) + end));
        let keys = [&whole, &one, &other].map(|name| names.key_of(name, 3));
        assert!(keys[0] != keys[1] && keys[1] != keys[2]);
        let mangled = |key| names.name(key).map(|name| name.mangled.clone());
        assert_eq!(mangled(keys[0]), Some(whole));
        assert!(mangled(keys[1]).is_some_and(|name| name.contains("…#")));
        assert_eq!((mangled(KernelKey::Unnamed), mangled(KernelKey::Other)), (None, None));
    }
}
