//! Checks of what `cargo gpubench probe` can see.

use super::check::{Area, Check};
use gpubench_contract::{Ability, ProbeAbilities};
use gpubench_diagnostic::SetupMissing;

const AREA: Area = Area::Observation;
const CALLS: &str = "calls of the driver";

pub(super) fn checks(abilities: &Result<ProbeAbilities, SetupMissing>) -> Vec<Check> {
    let abilities = match abilities {
        Ok(abilities) => abilities,
        Err(SetupMissing { what, hint }) => {
            let hint = format!("only `cargo gpubench probe` and `--audit` need it; {hint}");
            return vec![AREA.gap(CALLS, what.clone(), hint)];
        }
    };
    let sees_calls = matches!(abilities.ability, Ability::Probes | Ability::SlowProbes);
    let processes = sees_calls.then(|| processes(abilities));
    let watchpoint = if abilities.watchpoint {
        AREA.good("watchpoint", "counts what is submitted to the GPU")
    } else {
        AREA.gap(
            "watchpoint",
            "not available",
            "submissions to the GPU cannot be counted; lower `kernel.perf_event_paranoid` to 2",
        )
    };
    let checks = [Some(calls(abilities)), processes, Some(watchpoint)];
    checks.into_iter().flatten().collect()
}

fn calls(abilities: &ProbeAbilities) -> Check {
    let (what, remedy) = match &abilities.missing {
        Some(missing) => (missing.what.as_str(), missing.remedy.as_str()),
        None => ("no", ""),
    };
    let consequence = match abilities.ability {
        Ability::Probes => return AREA.good(CALLS, "all"),
        Ability::SlowProbes => "starting and stopping takes seconds",
        Ability::Events => {
            "`cargo gpubench probe` sees no launches, memory, copies and errors, only processes and how often \
             they submit work"
        }
        Ability::Nothing => "`cargo gpubench probe` sees nothing",
    };
    AREA.gap(CALLS, what, format!("{consequence}; {remedy}"))
}

fn processes(abilities: &ProbeAbilities) -> Check {
    let name = "child processes";
    if abilities.descendants {
        return AREA.good(name, "followed from fork to exit");
    }
    AREA.gap(
        name,
        "not followed",
        "`probe` needs `/sys/kernel/btf/vmlinux`: use a kernel built with `CONFIG_DEBUG_INFO_BTF=y`",
    )
}
