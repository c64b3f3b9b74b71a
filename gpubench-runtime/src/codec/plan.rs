//! The types of [`plan`](crate::plan) as parts of messages.

use super::{codec_enum, codec_struct};
use crate::plan::*;

codec_struct!(Plan { steps, scratch });
codec_enum!(Step { 0 = Launch(launch), 1 = Memset { target, value }, 2 = Copy { source, target } });
codec_struct!(Launch {
    kernel,
    grid,
    block,
    cluster,
    dynamic_shared,
    cooperation,
    dependence,
    arguments
});
codec_enum!(Cooperation { 0 = Independent, 1 = Grid });
codec_enum!(Dependence { 0 = Complete, 1 = Programmatic });
codec_struct!(KernelRef { source, name });
codec_enum!(Argument { 0 = Pointer { buffer, offset }, 1 = Value(bytes) });
codec_enum!(BufferId { 0 = Tensor(index), 1 = Scratch(index) });
codec_struct!(Span { buffer, offset, len });
