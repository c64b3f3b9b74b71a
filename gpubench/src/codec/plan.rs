//! Encoding of the types in [`plan`](crate::plan).

use super::{codec_enum, codec_struct};
use crate::plan::*;

codec_struct!(Plan {
    steps,
    scratch,
    constants
});
codec_struct!(ConstantValue { source, symbol, bytes });
codec_enum!(Step { 0 = Launch(launch), 1 = Memset { target, value }, 2 = Copy { source, target } });
codec_struct!(Launch {
    kernel,
    grid,
    block,
    cluster,
    dynamic_shared,
    cooperation,
    dependence,
    arguments,
    types,
    place
});
codec_struct!(ArgumentType { name, fields });
codec_struct!(FieldType {
    name,
    offset,
    dtype,
    count
});
codec_enum!(Cooperation { 0 = Independent, 1 = Grid });
codec_enum!(Dependence { 0 = Complete, 1 = Programmatic });
codec_struct!(KernelRef { source, name });
codec_enum!(Argument { 0 = Pointer { buffer, offset }, 1 = Value(bytes), 2 = TensorMap { buffer, offset, map } });
codec_struct!(LibraryCall {
    function,
    arguments,
    place
});
codec_enum!(LibraryArgument { 0 = Buffer { tensor, start, elements }, 1 = Number { dtype, bits }, 2 = Null });
codec_struct!(TensorMapDescription {
    element,
    dims,
    strides,
    box_dims,
    element_strides,
    interleave,
    swizzle,
    l2_promotion,
    fill
});
codec_enum!(TensorMapElement {
    0 = U8,
    1 = U16,
    2 = U32,
    3 = I32,
    4 = U64,
    5 = I64,
    6 = F16,
    7 = F32,
    8 = F64,
    9 = BF16,
    10 = F32Ftz,
    11 = Tf32,
    12 = Tf32Ftz,
});
codec_enum!(Interleave { 0 = None, 1 = Bytes16, 2 = Bytes32 });
codec_enum!(Swizzle { 0 = None, 1 = Bytes32, 2 = Bytes64, 3 = Bytes128 });
codec_enum!(L2Promotion { 0 = None, 1 = Bytes64, 2 = Bytes128, 3 = Bytes256 });
codec_enum!(OutOfBoundsFill { 0 = Zeros, 1 = NanRequestZeroFma });
codec_enum!(BufferId { 0 = Tensor(index), 1 = Scratch(index) });
codec_struct!(Span { buffer, offset, len });
