//! Where the buffers of a case lie in physical memory. It can decide more of a call's time than all
//! else that differs between workers, so each worker has other places, and a worker has several.

use std::rc::Rc;
use std::time::Instant;

use super::arm::{Arm, Context, WindowPurpose};
use super::error::MeasureError;
use super::protocol::Protocol;
use super::run_mode::RunMode;
use crate::clients::OpenedCase;
use crate::timeline::{self, Track};
use gpubench_contract::{Launching, MetricKind, PlacementShare};
use gpubench_device::KernelHost;

/// Most bytes of buffers that are placed anew. Larger ones are spread over the whole memory,
/// wherever they lie, and it would take long.
const MOST_BYTES: u64 = 1 << 30;

/// Numbers of samples of a worker after which its buffers are placed anew. The parts of its samples
/// have similar sizes whether it takes 7 or 40.
const AFTER_SAMPLES: [usize; 3] = [4, 10, 20];

const LACKS_MEMORY: &str = "the device lacks memory to place the buffers anew, so all further samples have them in \
     the same place; another place can change the time";

/// The places of the buffers of a case, one after another.
pub(super) struct Placements {
    /// The case with the memory of the present place.
    opened: Rc<OpenedCase>,
    /// Number of the present place, from 0.
    number: u64,
    /// Whether workers of plans start before their rounds and have no code of their own, as on a
    /// GPU: they can map other memory, and must.
    follow: bool,
    /// Number of places in this round that followed its first.
    in_round: usize,
    /// Whether there was memory for the next place so far.
    has_memory: bool,
}

impl Placements {
    /// Returns the places of a case whose times depend on them.
    pub(super) fn of_case(protocol: &Protocol<'_>, opened: Rc<OpenedCase>) -> Option<Placements> {
        let are_timed = protocol.mode == RunMode::Measure
            && protocol.metric.kind == MetricKind::Time
            && protocol.observer.is_none();
        // A graph may hold more of its buffers than their addresses.
        let in_graph = opened.calls.mode.launching() == Launching::InGraph;
        (are_timed && !in_graph && opened.bytes() <= MOST_BYTES).then(|| Placements {
            opened,
            follow: protocol.kernels_run_in == KernelHost::Referee,
            in_round: 0,
            has_memory: true,
            number: 0,
        })
    }

    /// Places the buffers anew before a round after the first, while no worker is measured.
    ///
    /// # Errors
    /// If the referee fails, or the user interrupts.
    pub(super) fn begin_round(&mut self, arms: &mut [Arm<'_>], context: &mut Context<'_>) -> Result<(), MeasureError> {
        self.in_round = 0;
        if arms.iter().any(Arm::depends_on_place) {
            self.place_anew(arms, context)?;
        }
        Ok(())
    }

    /// Makes the workers of a round that has begun map the present place. They may have been set up
    /// before. Their time includes that since the buffers began to be placed.
    ///
    /// # Errors
    /// If anything but the workers fails.
    pub(super) fn follow(&self, arms: &mut [Arm<'_>], began: Instant) -> Result<(), MeasureError> {
        for arm in arms {
            if self.follow && self.number > 0 {
                arm.follow(&self.opened)?;
            }
            arm.note_place(self.number, began.elapsed());
        }
        Ok(())
    }

    /// Places the buffers anew while workers live, if they have taken enough samples at the present
    /// place. A window without a sample follows, in which they find the new addresses' translations
    /// as in any other window.
    ///
    /// # Errors
    /// If anything but the workers fails.
    pub(super) fn after_sample(&mut self, arms: &mut [Arm<'_>], context: &mut Context<'_>) -> Result<(), MeasureError> {
        let active = || arms.iter().filter(|arm| arm.is_active());
        let samples = active().map(Arm::current_sample_count).max().unwrap_or_default();
        let is_due = AFTER_SAMPLES.get(self.in_round).is_some_and(|after| samples >= *after);
        let can_move = self.follow && active().all(Arm::can_move);
        if !is_due || !can_move || !active().any(Arm::depends_on_place) {
            return Ok(());
        }
        self.in_round += 1;
        let began = Instant::now();
        if !self.place_anew(arms, context)? {
            return Ok(());
        }
        self.follow(arms, began)?;
        arms.iter_mut()
            .try_for_each(|arm| arm.step(context, WindowPurpose::WarmUp))
    }

    /// Places the buffers anew. Returns whether there was memory for it.
    fn place_anew(&mut self, arms: &mut [Arm<'_>], context: &mut Context<'_>) -> Result<bool, MeasureError> {
        if !self.has_memory {
            return Ok(false);
        }
        let _places = timeline::span(Track::Command, "places the buffers anew");
        let protocol = context.sequencer.protocol;
        let placed = context
            .sequencer
            .referee
            .replace_memory(&self.opened, protocol.interrupt);
        let Some(opened) = placed.map_err(MeasureError::referee)? else {
            self.has_memory = false;
            arms.iter_mut()
                .for_each(|arm| arm.notices.push(LACKS_MEMORY.to_owned()));
            return Ok(false);
        };
        self.opened = Rc::new(opened);
        self.number += 1;
        for arm in arms.iter_mut() {
            arm.set_up_later_in(&self.opened);
        }
        context.control.follow(&self.opened, protocol)?;
        Ok(true)
    }
}

/// Where the buffers of a worker lay, one place after another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlacesOfRun(Vec<Place>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    number: u64,
    /// Number of the worker's samples before.
    before: usize,
}

impl PlacesOfRun {
    /// Notes that the buffers lie in another place after `before` samples.
    pub(super) fn begin(&mut self, number: u64, before: usize) {
        self.0.push(Place { number, before });
    }

    /// Returns the samples in each place, of `samples` in all. Without a note, all are in the
    /// first.
    pub(super) fn shares(&self, samples: usize) -> Vec<PlacementShare> {
        let first = [Place { number: 0, before: 0 }];
        let places = if self.0.is_empty() { &first } else { &self.0[..] };
        let ends = places.iter().skip(1).map(|next| next.before).chain([samples]);
        // Samples can be thrown away after a place was noted.
        let shares = places.iter().zip(ends).map(|(place, end)| PlacementShare {
            placement: place.number,
            samples: end.min(samples).saturating_sub(place.before) as u64,
        });
        shares.filter(|share| share.samples > 0).collect()
    }
}
