//! Attaching to drivers and processes.

mod counts;
mod drivers;
mod error;
mod libraries;
mod lifecycles;
mod lost_ends;
mod mapped;
mod observer;
mod places;
mod prober;
mod scouts;
mod target;
mod unobserved;

pub use error::ObserveError;
pub use libraries::Driver;
pub use lifecycles::Lifecycles;
pub use observer::{Attachment, Observer};
pub use target::{Descendants, Target};
