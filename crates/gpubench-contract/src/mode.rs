//! How a call is measured.

use std::fmt;

use bytemuck::{CheckedBitPattern, NoUninit};

use super::words::{shown_by_word, words};

words! {
    /// How a call is measured: what happens before it, around it and after it.
    #[derive(CheckedBitPattern, NoUninit)]
    #[repr(u32)]
    pub enum Mode {
        /// The caches are flushed before each call.
        Cold = "cold",
        /// Nothing is flushed: the caches hold what earlier work left in them.
        Warm = "warm",
        /// Several calls back to back, each with its own tensors, which are in the caches.
        Hot = "hot",
        /// Several calls in a CUDA graph, each with its own tensors, after one flush of the caches.
        Graph = "graph",
        /// Several calls in a CUDA graph, each with its own tensors, which are in the caches.
        HotGraph = "hot-graph",
    }
}

shown_by_word!(Mode);

/// What is done with the caches before the calls of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheTreatment {
    /// They are flushed.
    Flushed,
    /// Nothing.
    Left,
    /// All tensors of the calls are read, so that the caches hold them.
    Touched,
}

/// How the calls of a window are launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Launching {
    /// One call, in a stream.
    Alone,
    /// Several calls, one after the other in a stream.
    BackToBack,
    /// Several calls in a graph.
    InGraph,
}

impl Mode {
    /// Returns what is done with the caches before the calls of a window.
    pub fn cache(self) -> CacheTreatment {
        match self {
            Mode::Cold | Mode::Graph => CacheTreatment::Flushed,
            Mode::Warm => CacheTreatment::Left,
            Mode::Hot | Mode::HotGraph => CacheTreatment::Touched,
        }
    }

    /// Returns how the calls of a window are launched.
    pub fn launching(self) -> Launching {
        match self {
            Mode::Cold | Mode::Warm => Launching::Alone,
            Mode::Hot => Launching::BackToBack,
            Mode::Graph | Mode::HotGraph => Launching::InGraph,
        }
    }
}

words! {
    /// What a timed call finds in the cache.
    pub enum CacheState {
        /// Nothing of its own: as much was flushed before it as the last-level cache holds.
        Cold = "cold",
        /// Perhaps some of its tensors: less was flushed before it than the last-level cache holds.
        PartlyWarm = "partly-warm",
        /// What the preparation of its tensors left there.
        Warm = "warm",
        /// All of its tensors.
        Hot = "hot",
    }
}

shown_by_word!(CacheState);

impl CacheState {
    /// Returns the state in which a mode's calls find a cache of `cache_bytes`, if a flush
    /// accesses `flush_bytes`.
    pub fn new(mode: Mode, flush_bytes: u64, cache_bytes: u64) -> CacheState {
        match mode.cache() {
            // Each call of a graph has its own tensors, which the flush before the graph evicts.
            CacheTreatment::Flushed if flush_bytes >= cache_bytes => CacheState::Cold,
            CacheTreatment::Flushed => CacheState::PartlyWarm,
            CacheTreatment::Left => CacheState::Warm,
            CacheTreatment::Touched => CacheState::Hot,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_flush_of_the_whole_cache_makes_calls_cold() {
        let states = |flush_bytes| [Mode::Cold, Mode::Graph].map(|mode| CacheState::new(mode, flush_bytes, 50));
        assert_eq!(states(50), [CacheState::Cold; 2]);
        assert_eq!(states(49), [CacheState::PartlyWarm; 2]);
        assert_eq!(CacheState::new(Mode::Hot, 100, 50), CacheState::Hot);
        assert_eq!(CacheState::new(Mode::HotGraph, 100, 50), CacheState::Hot);
        assert_eq!(CacheState::new(Mode::Warm, 100, 50), CacheState::Warm);
    }
}
