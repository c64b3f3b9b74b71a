//! Closes inherited descriptors.
#![allow(unsafe_code)]

use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::io::Errno;

/// Closes every descriptor above standard error that is not in `kept`.
///
/// # Errors
/// If the operating system refuses.
pub(super) fn close_all_but(kept: &[BorrowedFd<'_>]) -> rustix::io::Result<()> {
    let kept = kept.iter().map(|descriptor| descriptor.as_raw_fd() as u32).collect();
    gaps(kept).try_for_each(|(first, last)| close_range(first, last))
}

/// Returns the ranges of numbers above standard error that are not in `kept`.
fn gaps(mut kept: Vec<u32>) -> impl Iterator<Item = (u32, u32)> {
    kept.sort_unstable();
    let starts: Vec<u32> = std::iter::once(3).chain(kept.iter().map(|kept| kept + 1)).collect();
    let ends = kept.into_iter().map(|kept| kept.wrapping_sub(1)).chain([u32::MAX]);
    starts.into_iter().zip(ends).filter(|(first, last)| first <= last)
}

fn close_range(first: u32, last: u32) -> rustix::io::Result<()> {
    // SAFETY: the process has just begun: the descriptors that it owns are those its caller keeps.
    let closed = unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
    match closed {
        0 => Ok(()),
        _ => Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::INVAL)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_kept_descriptors_stay_open() {
        let all: Vec<_> = gaps(vec![9, 3, 7, 4]).collect();
        assert_eq!(all, [(5, 6), (8, 8), (10, u32::MAX)], "in any order");
        assert_eq!(gaps(Vec::new()).collect::<Vec<_>>(), [(3, u32::MAX)]);
        assert_eq!(gaps(vec![5]).collect::<Vec<_>>(), [(3, 4), (6, u32::MAX)]);
    }
}
