//! The kernels of a case.

use super::markup::scrolled;
use super::markup::{self, Element, element};
use crate::kernels::{extent, limits, wave_count};
use gpubench_contract::units::{percent, size};
use gpubench_contract::{BenchmarkComplete, KernelResources, KernelUse};

/// Columns about the launches.
const LAUNCHES: [&str; 4] = ["kernel", "launches", "blocks", "threads per block"];

/// Columns about the device.
const NEEDS: [&str; 8] = [
    "registers",
    "local memory",
    "spill stores, loads",
    "shared memory",
    "blocks per SM",
    "occupancy",
    "limited by",
    "waves",
];

/// Returns a row per kernel. `None` if none is known.
pub(super) fn table(result: &BenchmarkComplete) -> Option<Element> {
    let kernels = result.kernels.as_deref().filter(|kernels| !kernels.is_empty())?;
    let has_needs = kernels.iter().any(|kernel| kernel.resources.is_some());
    let columns = LAUNCHES.iter().chain(NEEDS.iter().filter(|_| has_needs));
    let rows = kernels.iter().map(|kernel| row(kernel, has_needs));
    let table = markup::table("Kernels that a call launches", columns.map(|title| (*title, "")))
        .class("checks")
        .child(element("tbody").children(rows));
    Some(scrolled("Kernels", table))
}

fn row(kernel: &KernelUse, has_needs: bool) -> Element {
    let blocks = match kernel.cluster {
        Some(cluster) => format!("{} in clusters of {}", extent(kernel.grid), extent(cluster)),
        None => extent(kernel.grid),
    };
    let needs = has_needs.then(|| needs(kernel.resources.as_ref(), kernel.dynamic_shared_bytes));
    let launches = [kernel.launches.to_string(), blocks, extent(kernel.block)];
    let cells = launches.into_iter().chain(needs.into_iter().flatten());
    element("tr")
        .child(
            element("th")
                .with("scope", "row")
                .child(super::names::name(&kernel.kernel)),
        )
        .children(cells.map(|cell| element("td").text(cell)))
}

fn needs(resources: Option<&KernelResources>, dynamic_shared: u64) -> [String; NEEDS.len()] {
    let known =
        |fact: fn(&KernelResources) -> Option<String>| resources.and_then(fact).unwrap_or_else(|| "–".to_owned());
    let shared = resources.map(|resources| size(resources.static_shared_bytes + dynamic_shared).to_string());
    [
        known(|resources| Some(resources.registers.to_string())),
        known(|resources| Some(size(resources.local_bytes).to_string())),
        known(|resources| {
            let (stores, loads) = (resources.spill_store_bytes?, resources.spill_load_bytes?);
            Some(format!("{}, {}", size(stores), size(loads)))
        }),
        shared.unwrap_or_else(|| "–".to_owned()),
        known(|resources| Some(resources.blocks_per_multiprocessor.to_string())),
        known(|resources| resources.occupancy.map(percent)),
        known(|resources| (!resources.limited_by.is_empty()).then(|| limits(&resources.limited_by))),
        known(|resources| resources.waves.map(wave_count)),
    ]
}
