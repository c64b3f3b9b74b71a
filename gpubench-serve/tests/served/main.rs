//! The program as clients see it, with a fake tool that grades.
#![forbid(unsafe_code)]

mod attacks;
mod client;
mod guide;
mod killed;
mod protocol;
mod python;
mod server;
mod start;
mod tool_ends;
