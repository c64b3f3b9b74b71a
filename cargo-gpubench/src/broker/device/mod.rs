//! The device of a run: its choice, exclusive use, clocks, counters and observers.

pub(super) mod choice;
pub(super) mod clocks;
pub(super) mod counters;
pub(super) mod environment;
pub(super) mod kind;
pub(super) mod observers;
pub(super) mod opened;
pub(super) mod present;
pub(super) mod processors;
pub(super) mod turn;
