//! Other processes with a context on the GPU.

/// The most generations between one of our processes and the broker.
const GENERATIONS: usize = 16;

/// Returns how many of the listed processes do not belong to this run; `None` if the list cannot be
/// trusted. Our referee has a context at this time, so a list without a process of ours comes from
/// a driver that sees other process numbers, as in a container.
pub(super) fn others_among(listed: &[u32], is_ours: impl Fn(u32) -> bool) -> Option<u32> {
    let others = listed.iter().filter(|process| !is_ours(**process)).count();
    (others < listed.len()).then_some(others as u32)
}

/// Returns whether a process is this one or one of its descendants.
pub(super) fn descends_from_here(process: u32) -> bool {
    let here = std::process::id();
    let line = std::iter::successors(Some(process), |process| parent_of(*process));
    line.take(GENERATIONS).any(|ancestor| ancestor == here)
}

fn parent_of(process: u32) -> Option<u32> {
    let status = fs_err::read_to_string(format!("/proc/{process}/status")).ok()?;
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
    parent.trim().parse().ok().filter(|parent| *parent > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_outside_the_run_are_counted() {
        let ours = |process: u32| process < 10;
        assert_eq!(others_among(&[3, 4], ours), Some(0));
        assert_eq!(others_among(&[3, 400, 4, 500], ours), Some(2));
    }

    #[test]
    fn a_list_without_our_processes_is_not_trusted() {
        let ours = |process: u32| process < 10;
        assert_eq!(others_among(&[], ours), None);
        assert_eq!(others_among(&[400, 500], ours), None);
    }

    #[test]
    fn a_child_descends_from_here_and_the_first_process_does_not() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        assert!(descends_from_here(child.id()));
        assert!(descends_from_here(std::process::id()));
        assert!(!descends_from_here(std::os::unix::process::parent_id()));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
