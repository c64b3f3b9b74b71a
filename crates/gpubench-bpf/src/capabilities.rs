//! The capabilities that observing needs, and which of them this process lacks.

use std::fs;

/// The capabilities, with their numbers in the kernel's sets.
const NEEDED: [(&str, u32); 3] = [("CAP_BPF", 39), ("CAP_PERFMON", 38), ("CAP_SYS_PTRACE", 19)];
/// Includes the first two.
const SYS_ADMIN: u32 = 21;
/// The one without which calls are observed, but not those of other users.
pub(crate) const TO_LOOK_INTO_OTHERS: &str = "CAP_SYS_PTRACE";

/// Returns the needed capabilities that this process lacks. None if `/proc` does not tell.
pub(crate) fn lacking() -> Vec<&'static str> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    effective(&status).map(lacking_in).unwrap_or_default()
}

/// Returns the effective capabilities in the status of a process, as bits.
fn effective(status: &str) -> Option<u64> {
    let digits = status.lines().find_map(|line| line.strip_prefix("CapEff:"))?;
    u64::from_str_radix(digits.trim(), 16).ok()
}

fn lacking_in(effective: u64) -> Vec<&'static str> {
    let has = |number: u32| effective & (1 << number) != 0;
    let is_there = |name: &str, number| has(number) || (name != TO_LOOK_INTO_OTHERS && has(SYS_ADMIN));
    let needed = NEEDED.into_iter().filter(|(name, number)| !is_there(name, *number));
    needed.map(|(name, _)| name).collect()
}

/// Returns how to get the rights that the kernel asks for, with those that are missing.
pub(crate) fn how_to_get_rights() -> String {
    how_to_get(&lacking())
}

fn how_to_get(lacking: &[&str]) -> String {
    const GENERAL: &str = "run it as root, or with `CAP_BPF`, `CAP_PERFMON` and `CAP_SYS_PTRACE`, from its caller or \
                           from the file of `gpubench-probe`";
    const CONTAINER: &str = "a container also needs a seccomp profile that allows `bpf` and `perf_event_open`";
    if lacking.is_empty() {
        return format!("{GENERAL}; {CONTAINER}");
    }
    let (names, verb) = (lacking.join(" "), if lacking.len() == 1 { "is" } else { "are" });
    format!(
        "`{names}` {verb} missing: {GENERAL}, which for a unit of systemd is `AmbientCapabilities={names}`; {CONTAINER}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: u64 = 1 << 39 | 1 << 38 | 1 << 19;

    #[test]
    fn a_missing_capability_is_named_with_the_line_of_the_unit_that_adds_it() {
        for (name, number) in NEEDED {
            let lacking = lacking_in(ALL & !(1 << number));
            assert_eq!(lacking, [name]);
            let hint = how_to_get(&lacking);
            assert!(hint.starts_with(&format!("`{name}` is missing")), "{hint}");
            assert!(hint.contains(&format!("`AmbientCapabilities={name}`")), "{hint}");
        }
        assert!(lacking_in(ALL).is_empty());
        let without_any = how_to_get(&lacking_in(0));
        assert!(
            without_any.contains("`AmbientCapabilities=CAP_BPF CAP_PERFMON CAP_SYS_PTRACE`"),
            "{without_any}"
        );
    }

    #[test]
    fn a_process_that_has_all_capabilities_is_not_told_that_one_is_missing() {
        // A seccomp profile refused, or the user is root of a user namespace.
        let hint = how_to_get(&[]);
        assert!(!hint.contains("missing") && hint.contains("seccomp profile"), "{hint}");
    }

    #[test]
    fn an_administrator_may_observe_but_not_look_into_processes_of_others() {
        assert_eq!(lacking_in(1 << SYS_ADMIN), [TO_LOOK_INTO_OTHERS]);
    }

    #[test]
    fn the_effective_set_is_read_from_the_status_of_a_process() {
        let status = "CapPrm:\t000001ffffffffff\nCapEff:\t000000c000080000\nCapBnd:\t000001ffffffffff\n";
        assert_eq!(effective(status), Some(ALL));
        assert_eq!(effective("Name:\tinit\n"), None);
    }
}
