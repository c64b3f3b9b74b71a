//! The submissions of a grading, on their way from the head to its agents. The head reads them, so
//! all agents judge the same bytes.

use super::message::{PackedOrder, SubmissionOrder};
use crate::broker::grading::read_for_others;
use crate::broker::options::{GradingOptions, ReadSubmission, RunOptions, SubmissionPlace};
use gpubench_submission::Packed;

/// Returns options whose submissions have been read.
pub(super) fn with_submissions_read(options: &RunOptions) -> RunOptions {
    let read = |grading: &GradingOptions| {
        let places = grading.submissions.iter();
        let read = places.map(|place| SubmissionPlace::Read(read_for_others(place)));
        with(grading, read.collect())
    };
    RunOptions {
        grading: options.grading.as_ref().map(read),
        ..options.clone()
    }
}

fn with(grading: &GradingOptions, submissions: Vec<SubmissionPlace>) -> GradingOptions {
    GradingOptions {
        submissions,
        ..grading.clone()
    }
}

/// Returns the submissions that have been read.
fn read_ones(options: &RunOptions) -> impl Iterator<Item = &ReadSubmission> {
    let places = options.grading.iter().flat_map(|grading| &grading.submissions);
    places.filter_map(|place| match place {
        SubmissionPlace::Read(read) => Some(read),
        _ => None,
    })
}

/// Returns what agents must know of the submissions before their contents come.
pub(super) fn orders_of(options: &RunOptions) -> Vec<SubmissionOrder> {
    let order = |packed: &Packed| PackedOrder {
        shown: packed.shown.clone(),
        prefix: packed.prefix.clone(),
        stem: packed.stem.clone(),
        files: packed
            .files
            .iter()
            .map(|(path, contents)| (path.clone(), contents.len() as u64))
            .collect(),
    };
    read_ones(options)
        .map(|read| SubmissionOrder {
            place: read.place.clone(),
            packed: read.packed.as_ref().map(order).map_err(Clone::clone),
        })
        .collect()
}

/// Returns the contents of all files, one after another.
pub(super) fn contents_of(options: &RunOptions) -> Vec<u8> {
    let packed = read_ones(options).filter_map(|read| read.packed.as_ref().ok());
    let files = packed.flat_map(|packed| &packed.files);
    files.flat_map(|(_, contents)| contents).copied().collect()
}

/// Returns the options with the submissions that the head has read. `receive` returns the next
/// bytes of their contents, as many as it is asked for.
///
/// # Errors
/// Those of `receive`.
pub(super) fn with_submissions_of_head<E>(
    options: RunOptions,
    orders: &[SubmissionOrder],
    mut receive: impl FnMut(u64) -> Result<Vec<u8>, E>,
) -> Result<RunOptions, E> {
    let mut unpacked = |order: &PackedOrder| {
        let files = order.files.iter();
        let files = files.map(|(path, bytes)| Ok((path.clone(), receive(*bytes)?)));
        Ok(Packed {
            shown: order.shown.clone(),
            prefix: order.prefix.clone(),
            stem: order.stem.clone(),
            files: files.collect::<Result<_, E>>()?,
        })
    };
    let mut submissions = Vec::new();
    for order in orders {
        let packed = match &order.packed {
            Ok(packed) => Ok(unpacked(packed)?),
            Err(message) => Err(message.clone()),
        };
        submissions.push(SubmissionPlace::Read(ReadSubmission {
            place: order.place.clone(),
            packed,
        }));
    }
    let grading = options.grading.as_ref();
    Ok(RunOptions {
        grading: grading.map(|grading| with(grading, submissions)),
        ..options
    })
}
