//! The best observation that the machine allows.

use super::ProbeOptions;
use super::calls::Calls;
use super::error::ProbeError;
use super::observation::Observation;
use super::outline::Outline;
use super::outlined::Here;
use super::reach::Reach;
use gpubench_bpf::Abilities;
use gpubench_diagnostic::{Expected, Failure, chain};
use gpubench_observe::{Filtered, Launches, Lifecycles, ObserveError, Observer, Source as _, Target, Timestamp};

/// Begins to observe. A command runs when this returns. `target` is asked again if the machine does
/// not let calls be observed.
///
/// # Errors
/// The machine allows nothing, or not what is needed, or there is no such program or process.
pub(super) fn attach(
    options: &ProbeOptions,
    reach: Reach,
    mut target: impl FnMut() -> Target,
) -> Result<Box<dyn Observation>, Failure> {
    let refused = match Observer::attach_for(target(), options.descendants, Launches::Counted, reach.users()) {
        Ok(observer) => {
            let notices = notices_of(&observer);
            let observer = Filtered::new(observer, options.filter.clone());
            return Ok(Box::new(Calls::new(observer, notices, options, Timestamp::now())));
        }
        Err(error) if !is_of_the_machine(&error) => return Err(ProbeError::from_observe(error)),
        Err(error) => error,
    };
    // Metrics are made of calls.
    if options.metrics_address.is_some() || options.metrics_file.is_some() {
        return Err(ProbeError::Metrics { source: refused }.into());
    }
    match Lifecycles::attach(target(), options.descendants) {
        Ok(lifecycles) => {
            let missing = missing_for_calls(&refused);
            Ok(Box::new(Outline::new(
                Filtered::new(lifecycles, options.filter.clone()),
                Box::new(Here),
                missing,
                Timestamp::now(),
            )))
        }
        // What would let calls be observed lets processes be observed, too.
        Err(error) if is_of_the_machine(&error) => Err(refused.into()),
        Err(error) => Err(ProbeError::from_observe(error)),
    }
}

/// Whether the machine refuses to observe, whatever the program or process.
fn is_of_the_machine(error: &ObserveError) -> bool {
    match error {
        ObserveError::NotAllowed(_) | ObserveError::OwnProcessIds | ObserveError::Kernel(_) => true,
        ObserveError::Hold(_) | ObserveError::Start { .. } | ObserveError::NoProcess(_) => false,
    }
}

/// Files that are named like a driver and told at the start.
const MOST_REFUSED: usize = 8;

fn notices_of(observer: &Observer) -> Vec<String> {
    let missing = Abilities::here().missing.map(|missing| missing.to_string());
    let driver = observer.drivers().is_empty().then(|| {
        "no CUDA driver was found at the start: a program that brings its own is observed once it has loaded it"
            .to_owned()
    });
    let refused = observer.refused().take(MOST_REFUSED).map(|(file, error)| {
        let file = file.display();
        format!(
            "`{file}` is named like a CUDA driver, but is not observed: {}",
            chain(error)
        )
    });
    missing.into_iter().chain(driver).chain(refused).collect()
}

/// Returns one line for what is missing and how to get it.
fn missing_for_calls(refused: &ObserveError) -> String {
    let reason = match refused {
        ObserveError::NotAllowed(missing) => missing.what.clone(),
        error => chain(error),
    };
    let unseen = if Abilities::here().watchpoint {
        "launches, memory, copies and errors are not observed"
    } else {
        "launches, memory, copies, errors and submissions are not observed"
    };
    let remedy = refused.hint().map_or_else(String::new, |hint| format!("; {hint}"));
    format!("{unseen}: {reason}{remedy}")
}
