//! The referee and the control worker of a run. Each starts when it is first needed.

use gpubench::catalog::OccupancyQuery;

use super::code::occupancy::NoAnswer;
use gpubench_device::{DeviceOrder, FrozenFile};
use gpubench_measure::clients::{ControlWorker, Interrupt, Output, RefereeClient, RoleFailure};
use gpubench_protocol::wire::Begin;

/// The roles that all cases of a run share.
pub(super) struct Roles<'a> {
    device: DeviceOrder,
    begin: Begin,
    /// A referee that has opened the device and waits for the seed.
    waiting: Option<RefereeClient>,
    /// A referee that is ready for cases.
    begun: Option<RefereeClient>,
    control_worker: ControlWorker,
    interrupt: &'a Interrupt,
}

impl<'a> Roles<'a> {
    /// Returns the roles on a device. Uses `referee` if one already runs.
    pub(super) fn on(
        device: DeviceOrder,
        begin: Begin,
        referee: Option<RefereeClient>,
        interrupt: &'a Interrupt,
    ) -> Roles<'a> {
        Roles {
            device,
            begin,
            waiting: referee,
            begun: None,
            control_worker: ControlWorker::on(device),
            interrupt,
        }
    }

    /// Returns the referee, ready for a case, and the control worker.
    ///
    /// # Errors
    /// The referee cannot be started, or lacks memory.
    pub(super) fn ready(&mut self) -> Result<(&mut RefereeClient, &mut ControlWorker), RoleFailure> {
        let referee = match self.begun.take() {
            Some(referee) => referee,
            None => {
                let waiting = self.waiting.take().map(Ok);
                let spawn = || RefereeClient::spawn(&self.device, Output::Captured, self.interrupt);
                let mut referee = waiting.unwrap_or_else(spawn)?;
                referee.begin(&self.begin, self.interrupt)?;
                referee
            }
        };
        Ok((self.begun.insert(referee), &mut self.control_worker))
    }

    /// Asks the device for the occupancy of a compiled kernel.
    ///
    /// # Errors
    /// The referee cannot answer.
    pub(super) fn occupancy(&mut self, module: &FrozenFile, query: &OccupancyQuery) -> Result<u32, NoAnswer> {
        let interrupt = self.interrupt;
        let answer = self
            .ready()
            .and_then(|(referee, _)| referee.occupancy(module, query, interrupt));
        answer.map_err(|failure| {
            if let RoleFailure::Ended { .. } | RoleFailure::Silent { .. } | RoleFailure::Protocol { .. } = failure {
                self.retire();
            }
            NoAnswer::of_referee(query, failure)
        })
    }

    /// Ends both processes, because their state is unknown. The next case starts new ones.
    pub(super) fn retire(&mut self) {
        (self.waiting, self.begun) = (None, None);
        self.control_worker.retire();
    }
}
