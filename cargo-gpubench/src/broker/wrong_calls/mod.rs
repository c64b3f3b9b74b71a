//! Tensors of calls with wrong outputs, kept as files of NumPy.

mod folder;
mod keeper;
mod npy;

pub(super) use folder::ensure_calls_can_be_kept;
pub(super) use keeper::NpyKeeper;
