//! The roles that run a case, and the messages between them.
//!
//! [`referee`], [`author`] and [`worker`] are the three processes besides the broker. They exchange
//! the records of [`wire`]. [`window`] defines windows, [`replay`] runs plans, [`cdylib`] loads a
//! crate's library, and `own_library` one that only its worker loads. Each process gives up rights
//! with `gpubench-sandbox`.

pub mod author;
pub mod cdylib;
mod own_library;
pub mod referee;
pub mod replay;
pub mod window;
pub mod wire;
pub mod worker;
