//! Checks of what `cargo gpubench probe` can see.

use super::check::{Area, Check};
use gpubench_contract::{Ability, MissingAbility, ProbeAbilities};
use gpubench_diagnostic::SetupMissing;

pub(super) fn checks(abilities: &Result<ProbeAbilities, SetupMissing>) -> Vec<Check> {
    let area = Area::Observation;
    let abilities = match abilities {
        Ok(abilities) => abilities,
        Err(SetupMissing { what, hint }) => return vec![area.gap("calls of the driver", what.clone(), hint.clone())],
    };
    let remedy = |missing: &Option<MissingAbility>| {
        missing
            .as_ref()
            .map_or_else(String::new, |missing| missing.remedy.clone())
    };
    let what = |missing: &Option<MissingAbility>| {
        missing
            .as_ref()
            .map_or_else(|| "no".to_owned(), |missing| missing.what.clone())
    };
    let calls = match abilities.ability {
        Ability::Probes => area.good("calls of the driver", "all"),
        Ability::SlowProbes => area.gap(
            "calls of the driver",
            what(&abilities.missing),
            format!("starting and stopping takes seconds; {}", remedy(&abilities.missing)),
        ),
        Ability::Events => area.gap(
            "calls of the driver",
            what(&abilities.missing),
            format!(
                "`cargo gpubench probe` sees no launches, memory, copies and errors, only processes and how often \
                 they submit work; {}",
                remedy(&abilities.missing)
            ),
        ),
        Ability::Nothing => area.gap(
            "calls of the driver",
            what(&abilities.missing),
            format!("`cargo gpubench probe` sees nothing; {}", remedy(&abilities.missing)),
        ),
    };
    let sees_calls = matches!(abilities.ability, Ability::Probes | Ability::SlowProbes);
    let processes = sees_calls.then(|| {
        if abilities.descendants {
            area.good("child processes", "followed from fork to exit")
        } else {
            area.gap(
                "child processes",
                "not followed",
                "`probe` needs `/sys/kernel/btf/vmlinux`: use a kernel built with `CONFIG_DEBUG_INFO_BTF=y`",
            )
        }
    });
    let watchpoint = if abilities.watchpoint {
        area.good("watchpoint", "counts what is submitted to the GPU")
    } else {
        area.gap(
            "watchpoint",
            "not available",
            "submissions to the GPU cannot be counted; lower `kernel.perf_event_paranoid` to 2",
        )
    };
    [Some(calls), processes, Some(watchpoint)]
        .into_iter()
        .flatten()
        .collect()
}
