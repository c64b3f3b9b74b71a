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
    }
}

shown_by_word!(Method);
