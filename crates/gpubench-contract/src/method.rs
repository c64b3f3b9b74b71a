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
        /// Many calls back to back on the same tensors, after untimed ones: the caches hold what they
        /// can.
        Hot = "hot",
        /// Several calls in a CUDA graph, each with its own tensors, after one flush of the caches.
        Graph = "graph",
    }
}

shown_by_word!(Method);
