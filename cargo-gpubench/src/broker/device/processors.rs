//! The host's processors near a GPU, so that the work for one does not disturb that for another.

use std::collections::BTreeSet;

use gpubench_device::Facts;
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Processors of the host that work for one device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::broker) struct Processors(BTreeSet<usize>);

impl Processors {
    /// Divides the processors near each device among the devices that they are near. `None` for a
    /// device that is alone, whose processors are not known, or for which none is left.
    pub(in crate::broker) fn shares(devices: &[&Facts]) -> Vec<Option<Processors>> {
        if devices.len() < 2 {
            return devices.iter().map(|_| None).collect();
        }
        let usable = usable();
        let near: Vec<Option<Vec<usize>>> = devices
            .iter()
            .map(|facts| Some(near(facts)?.intersection(&usable).copied().collect()))
            .collect();
        divided(&near, core_of)
    }

    /// Keeps this thread, and the processes that it starts from now on, on these processors. The
    /// system may refuse: times are then as they were without.
    pub(in crate::broker) fn keep_this_thread(&self) {
        let _ = sched_setaffinity(None, &self.set());
    }

    /// Keeps a process that already runs on these processors.
    pub(in crate::broker) fn keep_process(&self, process: u32) {
        let threads = std::fs::read_dir(format!("/proc/{process}/task"))
            .into_iter()
            .flatten()
            .flatten();
        let threads = threads.filter_map(|thread| thread.file_name().to_str()?.parse().ok());
        for thread in threads.filter_map(Pid::from_raw) {
            let _ = sched_setaffinity(Some(thread), &self.set());
        }
    }

    fn set(&self) -> CpuSet {
        let mut set = CpuSet::new();
        self.0.iter().for_each(|processor| set.set(*processor));
        set
    }
}

/// Divides lists of processors among the devices that have the same list. Processors of one core
/// stay together.
fn divided(near: &[Option<Vec<usize>>], core_of: impl Fn(usize) -> usize) -> Vec<Option<Processors>> {
    let share = |(position, list): (usize, &Option<Vec<usize>>)| {
        let list = list.as_ref()?;
        let sharing: Vec<usize> = (0..near.len())
            .filter(|other| near[*other].as_ref() == Some(list))
            .collect();
        let place = sharing.iter().position(|other| *other == position)?;
        let mut sorted = list.clone();
        sorted.sort_by_key(|processor| (core_of(*processor), *processor));
        let cut = |place: usize| place * sorted.len() / sharing.len();
        let own: BTreeSet<usize> = sorted[cut(place)..cut(place + 1)].iter().copied().collect();
        (sorted.len() >= sharing.len()).then_some(Processors(own))
    };
    near.iter().enumerate().map(share).collect()
}

/// Returns the processors that this process may use.
fn usable() -> BTreeSet<usize> {
    let Ok(set) = sched_getaffinity(None) else {
        return BTreeSet::new();
    };
    (0..CpuSet::MAX_CPU)
        .filter(|processor| set.is_set(*processor))
        .collect()
}

/// Returns the processors near a device, as the system knows them.
fn near(facts: &Facts) -> Option<BTreeSet<usize>> {
    let address = facts.pci_address.as_deref()?;
    let is_address = address
        .bytes()
        .all(|byte| byte.is_ascii_hexdigit() || b":.".contains(&byte));
    let path = format!("/sys/bus/pci/devices/{address}/local_cpulist");
    parse(std::fs::read_to_string(path).ok().filter(|_| is_address)?.trim())
}

/// Returns the first processor of the core that a processor belongs to.
fn core_of(processor: usize) -> usize {
    let path = format!("/sys/devices/system/cpu/cpu{processor}/topology/thread_siblings_list");
    let siblings = std::fs::read_to_string(path).ok().and_then(|text| parse(text.trim()));
    siblings
        .and_then(|siblings| siblings.first().copied())
        .unwrap_or(processor)
}

/// Reads a list of the system, such as `0-3,8`.
fn parse(text: &str) -> Option<BTreeSet<usize>> {
    let mut processors = BTreeSet::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        if last >= CpuSet::MAX_CPU {
            return None;
        }
        processors.extend(first..=last);
    }
    Some(processors)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(near: &[Option<&str>], core_of: impl Fn(usize) -> usize) -> Vec<Option<Vec<usize>>> {
        let near: Vec<Option<Vec<usize>>> = near
            .iter()
            .map(|text| Some(parse((*text)?)?.into_iter().collect()))
            .collect();
        let shares = divided(&near, core_of).into_iter();
        shares.map(|share| Some(share?.0.into_iter().collect())).collect()
    }

    #[test]
    fn devices_on_one_node_divide_its_cores_and_keep_siblings_together() {
        let shared = shares(&[Some("0-3,8-11"), Some("4-7"), Some("0-3,8-11")], |processor| {
            processor % 8
        });
        assert_eq!(
            shared,
            [Some(vec![0, 1, 8, 9]), Some(vec![4, 5, 6, 7]), Some(vec![2, 3, 10, 11])]
        );
    }

    #[test]
    fn a_device_without_known_processors_or_with_too_few_keeps_all() {
        assert_eq!(shares(&[None, Some("0-1")], |it| it), [None, Some(vec![0, 1])]);
        assert_eq!(shares(&[Some("5"), Some("5")], |it| it), [None, None]);
        assert_eq!(
            shares(&[Some("0-2"), Some("0-2")], |it| it),
            [Some(vec![0]), Some(vec![1, 2])]
        );
    }

    #[test]
    fn a_list_of_the_system_is_read_or_ignored() {
        assert_eq!(parse("0-2,7"), Some([0, 1, 2, 7].into()));
        for text in ["", "a", "0-", "0-99999999999", "0-9999999"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
