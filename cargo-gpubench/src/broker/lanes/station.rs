//! A device of a run, with what measures on it.

use super::roles::Roles;
use crate::broker::device::clocks::unlock_clocks;
use crate::broker::device::processors::Processors;
use crate::broker::device::turn::DeviceTurn;
use crate::broker::libraries::authors::{AuthorSettings, Authors};
use crate::broker::settings::RunSettings;
use crate::cdylibs::BuiltLibrary;
use gpubench_measure::clients::{Interrupt, RefereeClient};
use gpubench_measure::clock_lock::ClockLock;

/// A device of a run, with what measures on it.
pub(in crate::broker) struct Station<'a> {
    pub(in crate::broker) settings: &'a RunSettings<'a>,
    pub(in crate::broker) roles: Roles<'a>,
    /// The authors of its lane, if it is not the only one.
    pub(super) authors: Authors<'a>,
    processors: Option<Processors>,
    hold: Option<DeviceHold>,
}

/// What a run holds of a device while it measures there.
#[derive(Debug)]
pub(in crate::broker) struct DeviceHold {
    /// The right to measure.
    pub(in crate::broker) turn: DeviceTurn,
    /// The lock of its clocks.
    pub(in crate::broker) clocks: Option<ClockLock>,
}

impl<'a> Station<'a> {
    /// Returns a station. Uses `referee` if one already runs. `interrupt` ends its processes.
    pub(in crate::broker) fn new(
        settings: &'a RunSettings<'a>,
        hold: DeviceHold,
        mut referee: Option<RefereeClient>,
        processors: Option<Processors>,
        libraries: &'a [BuiltLibrary],
        interrupt: &'a Interrupt,
    ) -> Station<'a> {
        if let (Some(processors), Some(referee)) = (&processors, &mut referee) {
            processors.keep_process(referee.child().id());
        }
        Station {
            roles: Roles::on(settings.device, settings.begin(), referee, interrupt),
            authors: Authors::to_start(libraries, AuthorSettings::new(settings.options, interrupt)),
            settings,
            processors,
            hold: Some(hold),
        }
    }

    /// Keeps this thread, and the processes that it starts, on the processors near the device.
    pub(super) fn keep_near(&self) {
        self.processors.iter().for_each(Processors::keep_this_thread);
    }

    /// Ends its processes and gives the device back: nothing more is measured there.
    pub(in crate::broker) fn release(&mut self) {
        self.roles.retire();
        if let Some(DeviceHold { turn, clocks }) = self.hold.take() {
            unlock_clocks(clocks, self.settings.options);
            drop(turn);
        }
    }
}
