//! The submissions of a grading, on their way from the head to its agents. The head reads them, so
//! all agents judge the same bytes.

use std::sync::Arc;

use super::agent_error::AgentError;
use super::fleet_error::FleetError;
use super::listener::Listener;
use super::message::{PackedOrder, SubmissionOrder, ToAgent};
use crate::broker::grading::read_for_others;
use crate::broker::options::{GradingOptions, ReadSubmission, RunOptions, SubmissionPlace};
use gpubench_diagnostic::{Failure, chain};
use gpubench_submission::Packed;

/// The most bytes of all submissions together. The head and each agent hold them in memory.
const MOST_BYTES: u64 = 1 << 30;

/// Returns options whose submissions have been read.
///
/// # Errors
/// They are too large together.
pub(super) fn with_submissions_read(options: &RunOptions) -> Result<RunOptions, FleetError> {
    let Some(grading) = &options.grading else {
        return Ok(options.clone());
    };
    let mut bytes = 0;
    let mut submissions = Vec::new();
    for place in &grading.submissions {
        let read = read_for_others(place);
        bytes += contents_of(&read).map(|contents| contents.len() as u64).sum::<u64>();
        if bytes > MOST_BYTES {
            return Err(FleetError::Submissions { most: MOST_BYTES });
        }
        submissions.push(read);
    }
    Ok(with(options, submissions))
}

fn with(options: &RunOptions, submissions: Vec<ReadSubmission>) -> RunOptions {
    let grading = options.grading.as_ref().map(|grading| GradingOptions {
        submissions: submissions.into_iter().map(SubmissionPlace::Read).collect(),
        ..grading.clone()
    });
    RunOptions {
        grading,
        ..options.clone()
    }
}

/// Returns the submissions that have been read.
pub(super) fn read_ones(options: &RunOptions) -> Vec<ReadSubmission> {
    let places = options.grading.iter().flat_map(|grading| &grading.submissions);
    let read = places.filter_map(|place| match place {
        SubmissionPlace::Read(read) => Some(read.clone()),
        _ => None,
    });
    read.collect()
}

/// Returns what an agent must know of a submission before its contents come.
pub(super) fn order_of(submission: &ReadSubmission) -> SubmissionOrder {
    let order = |packed: &Arc<Packed>| PackedOrder {
        shown: packed.shown.clone(),
        prefix: packed.prefix.clone(),
        stem: packed.stem.clone(),
        files: packed
            .files
            .iter()
            .map(|(path, contents)| (path.clone(), contents.len() as u64))
            .collect(),
    };
    SubmissionOrder {
        place: submission.place.clone(),
        packed: submission.packed.as_ref().map(order).map_err(Clone::clone),
    }
}

/// Returns the contents of each file of a submission.
pub(super) fn contents_of(submission: &ReadSubmission) -> impl Iterator<Item = &[u8]> {
    let packed = submission.packed.as_ref().ok();
    packed
        .into_iter()
        .flat_map(|packed| &packed.files)
        .map(|(_, contents)| &contents[..])
}

/// Returns the options with the submissions that the head has read, and sends.
///
/// # Errors
/// The head has ended, or sends something else.
pub(super) fn with_submissions_of_head(
    options: &RunOptions,
    number: usize,
    head: &Listener,
) -> Result<RunOptions, Failure> {
    let mut submissions = Vec::new();
    for _ in 0..number {
        let ToAgent::Submission(order) = head.message()? else {
            return Err(AgentError::Protocol("something else instead of a submission".to_owned()).into());
        };
        submissions.push(ReadSubmission {
            place: order.place,
            packed: match order.packed {
                Ok(packed) => Ok(Arc::new(unpacked(packed, head)?)),
                Err(message) => Err(message),
            },
        });
    }
    Ok(with(options, submissions))
}

fn unpacked(order: PackedOrder, head: &Listener) -> Result<Packed, AgentError> {
    let mut files = Vec::new();
    for (path, bytes) in order.files {
        let mut contents = Vec::new();
        while (contents.len() as u64) < bytes {
            contents.extend(head.piece().map_err(|error| AgentError::Protocol(chain(&error)))?);
        }
        if contents.len() as u64 != bytes {
            return Err(AgentError::Protocol("more than a file of a submission".to_owned()));
        }
        files.push((path, contents));
    }
    Ok(Packed {
        shown: order.shown,
        prefix: order.prefix,
        stem: order.stem,
        files,
    })
}
