//! How a call is measured.

use std::fmt;

use bytemuck::{CheckedBitPattern, NoUninit};

use super::words::{shown_by_word, words};

words! {
    /// How a call is measured: what is prepared before it, what is armed round it, what is read
    /// after it.
    #[derive(CheckedBitPattern, NoUninit)]
    #[repr(u32)]
    pub enum Method {
        /// The caches are flushed before each call.
        Cold = "cold",
        /// The caches are as the work before the call left them: nothing is flushed.
        Warm = "warm",
    }
}

shown_by_word!(Method);
