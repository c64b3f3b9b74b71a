//! How a call is measured.

use std::fmt;

use bytemuck::{CheckedBitPattern, NoUninit};

use super::words::{shown_by_word, words};

words! {
    /// How a call is measured: what happens before it, around it and after it.
    #[derive(CheckedBitPattern, NoUninit)]
    #[repr(u32)]
    pub enum Method {
        /// The caches are flushed before each call.
        Cold = "cold",
        /// Nothing is flushed: the caches hold what earlier work left in them.
        Warm = "warm",
        /// Many calls back to back on the same tensors, after untimed ones: the caches hold what
        /// they can.
        Hot = "hot",
        /// Several calls in a CUDA graph, each with its own tensors, after one flush of the caches.
        Graph = "graph",
    }
}

shown_by_word!(Method);

words! {
    /// What a timed call finds in the cache.
    pub enum CacheState {
        /// Nothing of its own: as much was flushed before it as the last-level cache holds.
        Cold = "cold",
        /// Perhaps some of its tensors: less was flushed before it than the last-level cache holds.
        PartlyWarm = "partly-warm",
        /// What the preparation of its tensors left there.
        Warm = "warm",
        /// What the same call left there.
        Hot = "hot",
    }
}

shown_by_word!(CacheState);

impl CacheState {
    /// Returns the state in which a method's calls find a cache of `cache_bytes`, if a flush
    /// accesses `flush_bytes`.
    pub fn of(method: Method, flush_bytes: u64, cache_bytes: u64) -> CacheState {
        match method {
            // Each call of a graph has its own tensors, which the flush before the graph evicts.
            Method::Cold | Method::Graph if flush_bytes >= cache_bytes => CacheState::Cold,
            Method::Cold | Method::Graph => CacheState::PartlyWarm,
            Method::Warm => CacheState::Warm,
            Method::Hot => CacheState::Hot,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_flush_of_the_whole_cache_makes_calls_cold() {
        let states = |flush_bytes| [Method::Cold, Method::Graph].map(|method| CacheState::of(method, flush_bytes, 50));
        assert_eq!(states(50), [CacheState::Cold; 2]);
        assert_eq!(states(49), [CacheState::PartlyWarm; 2]);
        assert_eq!(CacheState::of(Method::Hot, 100, 50), CacheState::Hot);
        assert_eq!(CacheState::of(Method::Warm, 100, 50), CacheState::Warm);
    }
}
