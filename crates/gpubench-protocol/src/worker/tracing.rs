//! What the device does in a call, recorded in windows of their own: recording slows a call down.
//! It is only reported. Where it cannot be recorded, it is not known.

use gpubench_device::{Driver, Operation, Tracer};

/// Whether the device's operations can be recorded. It is found out when they are to be.
pub(super) enum Tracing {
    Untried,
    Possible(Box<dyn Tracer>),
    Impossible,
}

impl Tracing {
    /// Begins to record, if that is possible.
    pub(super) fn begin(&mut self, driver: &mut dyn Driver) {
        if let Tracing::Untried = self {
            *self = driver.tracer().map_or(Tracing::Impossible, Tracing::Possible);
        }
        if let Tracing::Possible(tracer) = self
            && tracer.begin().is_err()
        {
            *self = Tracing::Impossible;
        }
    }

    /// Returns the operations since [`Tracing::begin`], if they are known.
    pub(super) fn end(&mut self) -> Option<Vec<Operation>> {
        match self {
            Tracing::Possible(tracer) => tracer.end().ok(),
            Tracing::Untried | Tracing::Impossible => None,
        }
    }
}
