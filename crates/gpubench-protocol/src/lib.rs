//! The roles that run a case, and the messages between them.
//!
//! [`referee`], [`author`] and [`worker`] are the three processes besides the broker. They exchange
//! the records of [`wire`]. [`window`] defines windows, [`replay`] runs plans, and [`cdylib`] loads
//! a crate's library. Each process gives up rights with `gpubench-sandbox`.

pub mod author;
pub mod cdylib;
pub mod referee;
pub mod replay;
pub mod window;
pub mod wire;
pub mod worker;
