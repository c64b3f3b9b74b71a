//! What values an option takes.

use clap::{Arg, ArgAction};

/// Returns whether the option is a flag without a value.
pub(super) fn is_flag(option: &Arg) -> bool {
    matches!(option.get_action(), ArgAction::SetTrue)
}

/// Returns whether the option is a flag that may also have the value `true` or `false`.
pub(super) fn is_switch(option: &Arg) -> bool {
    option.is_require_equals_set()
}

/// Returns whether the option may be given several times.
pub(super) fn takes_several(option: &Arg) -> bool {
    matches!(option.get_action(), ArgAction::Append)
}

/// Returns whether the option has a value: help and version have none.
pub(super) fn takes_a_value(option: &Arg) -> bool {
    is_flag(option) || takes_several(option) || matches!(option.get_action(), ArgAction::Set)
}
