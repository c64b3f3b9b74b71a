//! The broker's handles of the other roles: it starts their processes, talks to them and ends them.

mod author;
mod child;
mod companion;
mod control_worker;
mod descriptors;
mod error;
mod interrupt;
mod kept_profiles;
mod log;
mod observer;
mod referee;
mod role;
mod spawn;
mod strays;
mod worker;

pub use author::{AuthorClient, AuthorProblem, BufferGrant, Recorded};
pub use child::Child;
pub use companion::Companion;
pub use control_worker::ControlWorker;
pub use descriptors::allow_many_descriptors;
pub use error::RoleFailure;
pub use interrupt::{ChannelEvent, Interrupt, deadline, listen};
pub use observer::{Observation, ObserverProgram, ObserverTask};
pub use referee::{CaseOrder, OWN_WORK, OpenedCase, Preparation, RefereeClient, WindowAnswer};
pub use role::{End, Output, RoleName};
pub use spawn::RoleEnvironment;
pub(crate) use spawn::{PROGRAM, remove_run_variables};
pub use strays::adopt_orphans;
pub(crate) use strays::{Registered, end_strays};
pub use worker::{
    HostedLaunch, MetricRequest, ObservedBy, SharedMemory, Start, WorkerClient, WorkerLaunch, WorkerPast,
};
