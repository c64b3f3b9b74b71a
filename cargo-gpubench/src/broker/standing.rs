//! The referee of a run, started and begun when it is first needed.

use gpubench_device::DeviceOrder;
use gpubench_measure::clients::{Interrupt, Output, RefereeClient, RoleFailure};
use gpubench_protocol::wire::Begin;

/// Where the run's referee stands.
pub(super) enum Standing {
    /// There is none.
    Absent,
    /// It has its device and waits for the seed.
    Waiting(RefereeClient),
    /// It can be given cases.
    Begun(RefereeClient),
}

impl Standing {
    /// The referee, started and begun where it was not yet.
    pub(super) fn begin(
        &mut self,
        device: DeviceOrder,
        begin: &Begin,
        interrupt: &Interrupt,
    ) -> Result<&mut RefereeClient, RoleFailure> {
        let begun = match std::mem::replace(self, Standing::Absent) {
            Standing::Begun(referee) => referee,
            Standing::Waiting(mut referee) => referee.begin(begin, interrupt).map(|()| referee)?,
            Standing::Absent => {
                let mut referee = RefereeClient::spawn(&device, Output::Captured, interrupt)?;
                referee.begin(begin, interrupt).map(|()| referee)?
            }
        };
        *self = Standing::Begun(begun);
        match self {
            Standing::Begun(referee) => Ok(referee),
            Standing::Absent | Standing::Waiting(_) => unreachable!("it was begun just now"),
        }
    }
}
