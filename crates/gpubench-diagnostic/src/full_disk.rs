//! Full disks among the causes of errors.

use std::error::Error;
use std::io::{self, ErrorKind};
use std::iter::successors;

/// Returns whether an error, or one of its causes, is a full disk or a used up quota of one.
pub fn is_full_disk(error: &(dyn Error + 'static)) -> bool {
    let causes = successors(Some(error), |&error| error.source());
    let mut kinds = causes.filter_map(|error| Some(error.downcast_ref::<io::Error>()?.kind()));
    kinds.any(|kind| matches!(kind, ErrorKind::StorageFull | ErrorKind::QuotaExceeded))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("cannot write")]
    struct Outer(#[source] io::Error);

    #[test]
    fn full_disks_and_used_up_quotas_are_found_in_every_cause() {
        for (number, is_full) in [(28, true), (122, true), (13, false)] {
            let system = || io::Error::from_raw_os_error(number);
            assert_eq!(is_full_disk(&system()), is_full, "{number}");
            assert_eq!(is_full_disk(&Outer(system())), is_full, "{number}");
            assert_eq!(is_full_disk(&io::Error::other(Outer(system()))), is_full, "{number}");
        }
    }
}
