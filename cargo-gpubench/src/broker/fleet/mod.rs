//! One run over several machines: `--runner`.
//!
//! The [head](head) builds and reports, and needs no device. A [station](station) for each agent
//! starts its command and leases cases to it. The [agent](agent) is a [lessee](lessee): it measures
//! them with the lane of an ordinary run. A case is done when its record came, whatever became of
//! processes.

mod agent;
mod agent_error;
mod connection;
mod fleet_error;
mod frame;
mod head;
mod late_records;
mod leases;
mod lessee;
mod listener;
mod message;
mod node_archive;
mod order;
mod speaker;
mod station;
mod stations;
mod submissions;

pub use agent::{ReadOrder, serve};
pub(super) use head::run_with_agents;
pub use message::Order;
