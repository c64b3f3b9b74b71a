//! How a call is measured.

use std::fmt;

use bytemuck::{CheckedBitPattern, NoUninit};
use serde::{Deserialize, Serialize};

/// How a call is measured: what is prepared before it, what is armed round it, what is read after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, CheckedBitPattern, NoUninit)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[repr(u32)]
pub enum Method {
    /// The caches are flushed before each call.
    Cold,
    /// The caches are as the work before the call left them: nothing is flushed.
    Warm,
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Method::Cold => "cold",
            Method::Warm => "warm",
        })
    }
}
