//! The roles that run a case and what crosses between them.
//!
//! [`referee`], [`author`] and [`worker`] are the three processes beside the broker. They speak the
//! records of [`wire`] about windows in the words of [`window`], run plans by [`replay`], load a
//! crate's library by [`cdylib`], and give up what they do not need by `gpubench-sandbox`.

pub mod author;
pub mod cdylib;
pub mod referee;
pub mod replay;
pub mod window;
pub mod wire;
pub mod worker;
