//! Words about the kernels of a case, which all reports for people share.

use gpubench_contract::units::{counted, percent, size};
use gpubench_contract::{KernelResources, KernelUse, OccupancyLimit};
use gpubench_diagnostic::printable_line;

/// `reduce<256>: 4096 blocks of 256 threads`, `tile: 64 × 4 blocks of 32 × 8 threads in clusters of
/// 2, 3 launches`.
pub(super) fn launched(kernel: &KernelUse) -> String {
    let clusters = kernel
        .cluster
        .map(|cluster| format!(" in clusters of {}", extent(cluster)));
    let launches = (kernel.launches > 1).then(|| format!(", {} launches", kernel.launches));
    format!(
        "{}: {} of {}{}{}",
        printable_line(&kernel.kernel),
        several(kernel.grid, "block"),
        several(kernel.block, "thread"),
        clusters.unwrap_or_default(),
        launches.unwrap_or_default()
    )
}

/// Returns what a kernel needs of a GPU, and how much of the GPU it fills, in a few phrases.
pub(super) fn needs(kernel: &KernelUse) -> Vec<String> {
    let Some(resources) = &kernel.resources else {
        return Vec::new();
    };
    let shared = resources.static_shared_bytes + kernel.dynamic_shared_bytes;
    let phrases = [
        Some(counted(resources.registers, "register")),
        (shared > 0).then(|| format!("{} shared memory", size(shared))),
        (resources.local_bytes > 0).then(|| format!("{} local memory per thread", size(resources.local_bytes))),
        spills(resources).map(|[stores, loads]| format!("spills {} stored, {} loaded", size(stores), size(loads))),
        Some(resident(resources)),
        resources.waves.map(waves),
    ];
    phrases.into_iter().flatten().collect()
}

/// Returns the bytes of spilled registers that instructions store and load. `None` if there are
/// none, or if they are not known.
fn spills(resources: &KernelResources) -> Option<[u64; 2]> {
    let spills = [resources.spill_store_bytes?, resources.spill_load_bytes?];
    (spills != [0, 0]).then_some(spills)
}

/// `6 blocks per SM, 75.0% occupancy, limited by registers`.
fn resident(resources: &KernelResources) -> String {
    let blocks = format!("{} per SM", counted(resources.blocks_per_multiprocessor, "block"));
    let limits = (!resources.limited_by.is_empty()).then(|| format!(", limited by {}", limits(&resources.limited_by)));
    let share = resources
        .occupancy
        .map(|share| format!(", {} occupancy", percent(share)));
    format!("{blocks}{}{}", share.unwrap_or_default(), limits.unwrap_or_default())
}

/// `registers and threads`.
pub(super) fn limits(limits: &[OccupancyLimit]) -> String {
    let names: Vec<&str> = limits
        .iter()
        .map(|limit| match limit {
            OccupancyLimit::Registers => "registers",
            OccupancyLimit::SharedMemory => "shared memory",
            OccupancyLimit::Threads => "threads",
            OccupancyLimit::Blocks => "blocks",
        })
        .collect();
    names.join(" and ")
}

/// `1.33 waves`, `<0.01 waves`.
fn waves(waves: f64) -> String {
    format!("{} waves", wave_count(waves))
}

/// `1.33`, `<0.01`.
pub(super) fn wave_count(waves: f64) -> String {
    if waves < 0.01 {
        "<0.01".to_owned()
    } else {
        format!("{waves:.2}")
    }
}

/// `64 × 4 blocks`, `1 thread`.
fn several(of: [u64; 3], what: &str) -> String {
    match of.iter().product::<u64>() {
        1 => counted(1, what),
        _ => format!("{} {what}s", extent(of)),
    }
}

/// Returns an extent without trailing ones: `4096`, `64 × 4`.
pub(super) fn extent(of: [u64; 3]) -> String {
    let used = of.iter().rposition(|length| *length != 1).map_or(1, |last| last + 1);
    of[..used].iter().map(u64::to_string).collect::<Vec<_>>().join(" × ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_extent_ends_with_its_last_used_dimension() {
        assert_eq!(extent([1, 1, 1]), "1");
        assert_eq!(extent([64, 1, 1]), "64");
        assert_eq!(extent([1, 4, 1]), "1 × 4");
        assert_eq!(extent([64, 1, 2]), "64 × 1 × 2");
    }

    #[test]
    fn a_small_part_of_a_wave_is_not_zero() {
        assert_eq!([0.001, 0.24, 5.166].map(wave_count), ["<0.01", "0.24", "5.17"]);
    }
}
