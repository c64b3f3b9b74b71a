//! What this machine lets this program observe.

use gpubench_bpf::{Abilities, Ability};
use gpubench_contract::{MissingAbility, ProbeAbilities};
use gpubench_diagnostic::Expected;
use gpubench_observe::{ObserveError, sees_its_own_process_ids};

/// Returns the record of `--abilities`, as a line.
pub(super) fn line() -> String {
    let abilities = serde_json::to_string(&here()).expect("the record has no keys but text");
    format!("{abilities}\n")
}

/// Returns what can be observed. If `/proc` does not show this process under its own id, calls
/// cannot be observed, whatever the kernel allows.
fn here() -> ProbeAbilities {
    let here = Abilities::here();
    let obstacle = ObserveError::OwnProcessIds;
    let (ability, missing) = if sees_its_own_process_ids() || here.ability >= Ability::Events {
        let missing = here.missing.map(|missing| (missing.what, missing.remedy));
        (here.ability, missing)
    } else {
        (
            Ability::Events,
            Some((obstacle.to_string(), obstacle.hint().unwrap_or_default())),
        )
    };
    ProbeAbilities {
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        ability: match ability {
            Ability::Probes => gpubench_contract::Ability::Probes,
            Ability::SlowProbes => gpubench_contract::Ability::SlowProbes,
            Ability::Events => gpubench_contract::Ability::Events,
            Ability::Nothing => gpubench_contract::Ability::Nothing,
        },
        missing: missing.map(|(what, remedy)| MissingAbility { what, remedy }),
        watchpoint: here.watchpoint,
        descendants: here.descendants,
    }
}
