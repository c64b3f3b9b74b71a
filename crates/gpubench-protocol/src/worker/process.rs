//! The worker's process: it receives orders and sends claims.

use std::ops::ControlFlow;

use super::case::{OpenDevice, Worker};
use super::counted::Counted;
use super::window::Armed;
use super::{ReplayError, WorkerError};
use crate::wire::{Channel, ChannelError, Claim, FixedText, Patience, Problem, WindowOrder, from_worker, to_worker};

/// Carries out the broker's orders until `channel` closes.
///
/// # Errors
/// If the broker breaks the protocol.
pub fn serve(channel: &Channel) -> Result<(), WorkerError> {
    let mut held = Held::Nothing;
    loop {
        let frame = match channel.receive(Patience::Forever) {
            Ok(frame) => frame,
            Err(ChannelError::Closed) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        match frame.kind {
            to_worker::ARM => match run_window(channel, held.case()?, &frame.record()?)? {
                ControlFlow::Continue(()) => continue,
                ControlFlow::Break(()) => return Ok(()),
            },
            to_worker::HAND_BACK => {
                let shortest_ns = held.case()?.shortest_reading()?;
                held = held.device().map_or(Held::Nothing, Held::Device);
                channel.send_record(from_worker::HANDED_BACK, &shortest_ns)?;
                continue;
            }
            to_worker::REST => {
                held.case()?.await_own_work()?;
                held = held.device().map_or(Held::Nothing, Held::Device);
                channel.send(from_worker::RESTS, &[], &[])?;
                continue;
            }
            to_worker::REPLACE_MEMORY => match held.case()?.replace_memory(frame.descriptors) {
                Ok(()) => {
                    channel.send(from_worker::MEMORY_REPLACED, &[], &[])?;
                    continue;
                }
                Err(error) => return refuse(channel, &error),
            },
            _ => {}
        }
        let ready = Worker::set_up(held.device(), frame, channel).and_then(|mut ready| {
            let overhead_ns = ready.stopwatch_overhead()?;
            Ok((ready, overhead_ns))
        });
        match ready {
            Ok((ready, overhead_ns)) => {
                held = Held::Case(Box::new(ready));
                channel.send_record(from_worker::READY, &overhead_ns)?;
            }
            Err(error) => return refuse(channel, &error),
        }
    }
}

/// The state of a worker between two orders.
enum Held {
    /// New.
    Nothing,
    /// Without a case, after the last one was handed back.
    Device(OpenDevice),
    /// With a case.
    Case(Box<Worker>),
}

impl Held {
    fn case(&mut self) -> Result<&mut Worker, WorkerError> {
        match self {
            Held::Case(worker) => Ok(worker),
            Held::Nothing | Held::Device(_) => Err(WorkerError::Order("it came before a set-up")),
        }
    }

    /// Returns the open device, if there is one, and releases the case.
    fn device(self) -> Option<OpenDevice> {
        match self {
            Held::Nothing => None,
            Held::Device(device) => Some(device),
            Held::Case(worker) => Some(worker.hand_back()),
        }
    }
}

/// How a window ended.
enum Ended {
    /// With a claim, and the counts of a window that counts.
    Claimed { claim: Box<Claim>, counts: Vec<u8> },
    /// It could not be run.
    Refused(WorkerError),
}

/// Runs a window. The worker ends if it cannot queue it.
fn run_window(channel: &Channel, worker: &mut Worker, order: &WindowOrder) -> Result<ControlFlow<()>, WorkerError> {
    if let Some(annotation) = &worker.assignment.annotation {
        annotation.open(order.window);
    }
    let ended = if worker.assignment.metric.is_count() {
        count_window(channel, worker, order)?
    } else {
        time_window(channel, worker, order)?
    };
    // After the claim, the broker may end this process at any time.
    if let Some(annotation) = &worker.assignment.annotation {
        annotation.close();
    }
    match ended {
        Ended::Claimed { claim, counts } => {
            channel.send(from_worker::CLAIM, &[bytemuck::bytes_of(&*claim), &counts], &[])?;
            Ok(ControlFlow::Continue(()))
        }
        Ended::Refused(error) => {
            refuse(channel, &error)?;
            Ok(ControlFlow::Break(()))
        }
    }
}

/// Queues the window, to start at *go*, and reads the stopwatch.
fn time_window(channel: &Channel, worker: &mut Worker, order: &WindowOrder) -> Result<Ended, WorkerError> {
    let armed = match worker.arm(order) {
        Ok(armed) => armed,
        Err(error) => return Ok(release_queued(worker, order, error)),
    };
    channel.send_record(from_worker::ARMED, order)?;
    let queued = match armed {
        Armed::Queued(queued) => queued,
        Armed::Held => match worker.queue_after_go(order, channel) {
            Ok(queued) => queued,
            Err(error) => return Ok(release_queued(worker, order, error)),
        },
    };
    Ok(Ended::Claimed {
        claim: Box::new(worker.finish(order, queued)?),
        counts: Vec::new(),
    })
}

/// Releases the work that is queued already.
fn release_queued(worker: &mut Worker, order: &WindowOrder, error: WorkerError) -> Ended {
    worker.release(order);
    Ended::Refused(error)
}

/// Waits for *go*, then runs and counts the window.
fn count_window(channel: &Channel, worker: &mut Worker, order: &WindowOrder) -> Result<Ended, WorkerError> {
    channel.send_record(from_worker::ARMED, order)?;
    Ok(match worker.run_counted(order, channel) {
        Ok(Counted { claim, counts }) => Ended::Claimed {
            claim: Box::new(claim),
            counts,
        },
        Err(error) => Ended::Refused(error),
    })
}

fn refuse(channel: &Channel, error: &WorkerError) -> Result<(), WorkerError> {
    let kind = match error {
        WorkerError::Refused(_) => from_worker::REFUSED,
        WorkerError::Device(error)
        | WorkerError::Plan(error)
        | WorkerError::Capture(error)
        | WorkerError::Replay(ReplayError::Device(error) | ReplayError::Kernel { source: error, .. })
            if error.is_out_of_memory() =>
        {
            from_worker::OUT_OF_MEMORY
        }
        WorkerError::Plan(_) | WorkerError::Capture(_) | WorkerError::Replay(_) => from_worker::PLAN_REFUSED,
        _ => from_worker::FAILED,
    };
    let text = FixedText::new(&gpubench_diagnostic::chain(error));
    Ok(channel.send_record(kind, &Problem { text })?)
}

#[cfg(test)]
mod tests {
    use super::*;

    use gpubench_device::{DeviceError, HostFailure};

    #[test]
    fn a_refusal_says_whose_fault_it_is() {
        let unsupported = || DeviceError::Unsupported("do that".to_owned());
        let refused = || HostFailure::Returned("why".to_owned());
        for (error, kind) in [
            (WorkerError::Refused(refused()), from_worker::REFUSED),
            (WorkerError::Plan(unsupported()), from_worker::PLAN_REFUSED),
            (WorkerError::Capture(unsupported()), from_worker::PLAN_REFUSED),
            (
                WorkerError::Replay(ReplayError::Missing("a buffer")),
                from_worker::PLAN_REFUSED,
            ),
            (
                WorkerError::Replay(ReplayError::Device(unsupported())),
                from_worker::PLAN_REFUSED,
            ),
            (WorkerError::Device(unsupported()), from_worker::FAILED),
            (WorkerError::Order("it is damaged"), from_worker::FAILED),
        ] {
            let (own, other) = Channel::pair().expect("a connection");
            refuse(&own, &error).expect("it is sent");
            let frame = other.receive(Patience::Forever).expect("a refusal");
            assert_eq!(frame.kind, kind, "{error:?}");
            let problem: Problem = frame.record().expect("a text");
            assert_eq!(problem.text.printable(), gpubench_diagnostic::chain(&error));
        }
    }
}
