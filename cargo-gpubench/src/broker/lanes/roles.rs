//! The referee and the control worker of a run. Each starts when it is first needed.

use gpubench::catalog::OccupancyQuery;

use crate::broker::code::kernel_uses::{kernel_uses, report_on};
use crate::broker::code::occupancy::NoAnswer;
use crate::broker::recording::preparation::PreparedCase;
use gpubench_contract::KernelUse;
use gpubench_device::{DeviceOrder, Facts, FrozenFile, LaunchConfig, Resources};
use gpubench_diagnostic::{Interrupted, print_warning, printable_line};
use gpubench_measure::clients::{ControlWorker, Interrupt, Output, RefereeClient, RoleFailure};
use gpubench_measure::measurement::RolesAfterwards;
use gpubench_protocol::wire::Begin;

/// The roles that all cases of a run share.
pub(in crate::broker) struct Roles<'a> {
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
    pub(in crate::broker) fn on(
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
    pub(in crate::broker) fn ready(&mut self) -> Result<(&mut RefereeClient, &mut ControlWorker), RoleFailure> {
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

    /// Asks the device for the occupancy of a compiled kernel. It is 1 on a device without
    /// multiprocessors.
    ///
    /// # Errors
    /// The referee cannot answer.
    pub(in crate::broker) fn occupancy(
        &mut self,
        module: &FrozenFile,
        query: &OccupancyQuery,
    ) -> Result<u32, NoAnswer> {
        let config = LaunchConfig {
            dynamic_shared: query.dynamic_shared,
            ..LaunchConfig::linear(1, query.threads)
        };
        match self.resources(module, &query.kernel.name, &config) {
            Ok(resources) => Ok(resources.map_or(1, |resources| resources.blocks)),
            Err(failure) => Err(NoAnswer::of_referee(query, failure)),
        }
    }

    /// Asks the device what a compiled kernel needs in launches of one shape. `None` if the device
    /// has no such resources.
    ///
    /// # Errors
    /// The referee cannot answer.
    pub(in crate::broker) fn resources(
        &mut self,
        module: &FrozenFile,
        kernel: &str,
        config: &LaunchConfig,
    ) -> Result<Option<Resources>, RoleFailure> {
        let interrupt = self.interrupt;
        let answer = self
            .ready()
            .and_then(|(referee, _)| referee.resources(module, kernel, config, interrupt));
        if let Err(RoleFailure::Ended { .. } | RoleFailure::Silent { .. } | RoleFailure::Protocol { .. }) = answer {
            self.retire();
        }
        answer
    }

    /// Returns the kernels that a call of a measured case launches, with what each needs of the
    /// device. Warns if the referee cannot tell. Its state after the case is `afterwards`.
    pub(in crate::broker) fn kernels_of(
        &mut self,
        case: &PreparedCase,
        facts: &Facts,
        afterwards: RolesAfterwards,
    ) -> Result<Option<Vec<KernelUse>>, Interrupted> {
        kernel_uses(&case.recorded.recording, &facts.device, |launch| {
            let Some(module) = case
                .module_of(&launch.kernel)
                .filter(|_| afterwards == RolesAfterwards::AtRest)
            else {
                return Ok(None);
            };
            match self.resources(module, &launch.kernel.name, &LaunchConfig::new(launch)) {
                Ok(resources) => Ok(resources.map(|resources| (resources, report_on(module, &launch.kernel.name)))),
                Err(RoleFailure::Interrupted) => Err(Interrupted),
                Err(failure) => {
                    let why = gpubench_diagnostic::chain(&failure);
                    print_warning(&format_args!(
                        "cannot tell the resources of kernel `{}`: {why}",
                        printable_line(&launch.kernel.name)
                    ));
                    Ok(None)
                }
            }
        })
    }

    /// Returns why the device can no longer be opened, if that is so. The question is put to a new
    /// referee: what a worker says of the device may be its code's invention.
    pub(super) fn loss_of_device(&mut self) -> Option<String> {
        self.retire();
        match self.ready() {
            Ok(_) | Err(RoleFailure::Interrupted) => None,
            // Others may use its memory.
            Err(RoleFailure::OutOfMemory { .. }) => None,
            Err(failure) => {
                self.retire();
                Some(gpubench_diagnostic::chain(&failure))
            }
        }
    }

    /// Ends both processes, because their state is unknown. The next case starts new ones.
    pub(in crate::broker) fn retire(&mut self) {
        (self.waiting, self.begun) = (None, None);
        self.control_worker.retire();
    }
}
