//! The structs the harness kernels share with the tool, made by bindgen from `include/gb_harness.h`.
//! Change the header, then run `regenerate.sh`.

// header: 772e0e75e74b2d57
#![allow(missing_docs, non_camel_case_types, clippy::unreadable_literal, clippy::manual_c_str_literals)]

pub const GB_NO_INDEX: u64 = 18446744073709551615;
pub const GB_BUFFERS_EACH: u64 = 8;
pub const GB_U8: gb_dtype = 0;
pub const GB_I8: gb_dtype = 1;
pub const GB_U16: gb_dtype = 2;
pub const GB_I16: gb_dtype = 3;
pub const GB_U32: gb_dtype = 4;
pub const GB_I32: gb_dtype = 5;
pub const GB_U64: gb_dtype = 6;
pub const GB_I64: gb_dtype = 7;
pub const GB_F16: gb_dtype = 8;
pub const GB_BF16: gb_dtype = 9;
pub const GB_F32: gb_dtype = 10;
pub const GB_F64: gb_dtype = 11;
pub const GB_F8E4M3: gb_dtype = 12;
pub const GB_F8E5M2: gb_dtype = 13;
/// Two floats. Only `gb_check` takes it: a fill is one of twice as many floats.
pub const GB_COMPLEX32: gb_dtype = 14;
/// Element types, in the order of `gpubench::catalog::DType`.
pub type gb_dtype = ::core::ffi::c_uint;
/// [a, b). Rounding never reaches the bound. Integer elements take the floor.
pub const GB_FILL_UNIFORM: gb_fill_kind = 0;
/// Mean a, standard deviation b. Integer elements round to nearest and saturate.
pub const GB_FILL_NORMAL: gb_fill_kind = 1;
/// low + [0, span), modulo 2^64; a span of 0 means 2^64.
pub const GB_FILL_INTEGERS: gb_fill_kind = 2;
/// Every bit pattern of the element type.
pub const GB_FILL_BITS: gb_fill_kind = 3;
/// The distribution of `gb_fill`.
pub type gb_fill_kind = ::core::ffi::c_uint;
/// Equal values: a NaN matches a NaN, zero matches negative zero.
pub const GB_CHECK_EXACT: gb_check_mode = 0;
/** Both NaN, or equal (infinities too), or finite with |got - expected| <= atol + rtol *
 |expected| in double. A complex number is NaN if either part is, and finite if both are.*/
pub const GB_CHECK_CLOSE: gb_check_mode = 1;
/// How `gb_check` compares.
pub type gb_check_mode = ::core::ffi::c_uint;
/// Loads only, which leave no dirty lines for the kernel under test to write back.
pub const GB_FLUSH_READ: gb_flush_kind = 0;
/// Stores.
pub const GB_FLUSH_WRITE: gb_flush_kind = 1;
/// How `gb_flush` goes through its buffer.
pub type gb_flush_kind = ::core::ffi::c_uint;
/// Fills a tensor with random elements.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone, PartialEq)]
pub struct gb_fill_args {
    /// First element.
    pub out: u64,
    /// Elements.
    pub len: u64,
    /// Key of the window.
    pub key: u64,
    /// Size of the range of `GB_FILL_INTEGERS`; 0 means 2^64.
    pub span: u64,
    /// Lowest value of `GB_FILL_INTEGERS`; the bits of a `uint64_t` for `GB_U64`.
    pub low: i64,
    /// Lower bound or mean.
    pub a: f64,
    /// Upper bound or standard deviation.
    pub b: f64,
    /// Separates the tensors of a window.
    pub tensor: u32,
    /// A `gb_dtype`.
    pub dtype: u32,
    /// A `gb_fill_kind`.
    pub kind: u32,
    /// Zero.
    pub reserved: u32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of gb_fill_args"][::core::mem::size_of::<gb_fill_args>() - 72usize];
    ["Alignment of gb_fill_args"][::core::mem::align_of::<gb_fill_args>() - 8usize];
    [
        "Offset of field: gb_fill_args::out",
    ][::core::mem::offset_of!(gb_fill_args, out) - 0usize];
    [
        "Offset of field: gb_fill_args::len",
    ][::core::mem::offset_of!(gb_fill_args, len) - 8usize];
    [
        "Offset of field: gb_fill_args::key",
    ][::core::mem::offset_of!(gb_fill_args, key) - 16usize];
    [
        "Offset of field: gb_fill_args::span",
    ][::core::mem::offset_of!(gb_fill_args, span) - 24usize];
    [
        "Offset of field: gb_fill_args::low",
    ][::core::mem::offset_of!(gb_fill_args, low) - 32usize];
    [
        "Offset of field: gb_fill_args::a",
    ][::core::mem::offset_of!(gb_fill_args, a) - 40usize];
    [
        "Offset of field: gb_fill_args::b",
    ][::core::mem::offset_of!(gb_fill_args, b) - 48usize];
    [
        "Offset of field: gb_fill_args::tensor",
    ][::core::mem::offset_of!(gb_fill_args, tensor) - 56usize];
    [
        "Offset of field: gb_fill_args::dtype",
    ][::core::mem::offset_of!(gb_fill_args, dtype) - 60usize];
    [
        "Offset of field: gb_fill_args::kind",
    ][::core::mem::offset_of!(gb_fill_args, kind) - 64usize];
    [
        "Offset of field: gb_fill_args::reserved",
    ][::core::mem::offset_of!(gb_fill_args, reserved) - 68usize];
};
/// Writes noise bytes.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone, PartialEq)]
pub struct gb_noise_args {
    /// First byte; any alignment.
    pub out: u64,
    /// Bytes.
    pub bytes: u64,
    /// Key of the noise.
    pub key: u64,
    /// Offset of the first byte in the stream of the key.
    pub offset: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of gb_noise_args"][::core::mem::size_of::<gb_noise_args>() - 32usize];
    ["Alignment of gb_noise_args"][::core::mem::align_of::<gb_noise_args>() - 8usize];
    [
        "Offset of field: gb_noise_args::out",
    ][::core::mem::offset_of!(gb_noise_args, out) - 0usize];
    [
        "Offset of field: gb_noise_args::bytes",
    ][::core::mem::offset_of!(gb_noise_args, bytes) - 8usize];
    [
        "Offset of field: gb_noise_args::key",
    ][::core::mem::offset_of!(gb_noise_args, key) - 16usize];
    [
        "Offset of field: gb_noise_args::offset",
    ][::core::mem::offset_of!(gb_noise_args, offset) - 24usize];
};
/// Compares bytes with the noise that was written there.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone, PartialEq)]
pub struct gb_noise_check_args {
    /// First byte; any alignment.
    pub ptr: u64,
    /// Bytes.
    pub bytes: u64,
    /// Key of the noise.
    pub key: u64,
    /// Offset of the first byte in the stream of the key.
    pub offset: u64,
    /// `partial_count` times `gb_noise_partial`; all are written.
    pub partials: u64,
    /// At least 1. At most this many reporters work: blocks on a GPU, threads on the CPU device.
    pub partial_count: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of gb_noise_check_args",
    ][::core::mem::size_of::<gb_noise_check_args>() - 48usize];
    [
        "Alignment of gb_noise_check_args",
    ][::core::mem::align_of::<gb_noise_check_args>() - 8usize];
    [
        "Offset of field: gb_noise_check_args::ptr",
    ][::core::mem::offset_of!(gb_noise_check_args, ptr) - 0usize];
    [
        "Offset of field: gb_noise_check_args::bytes",
    ][::core::mem::offset_of!(gb_noise_check_args, bytes) - 8usize];
    [
        "Offset of field: gb_noise_check_args::key",
    ][::core::mem::offset_of!(gb_noise_check_args, key) - 16usize];
    [
        "Offset of field: gb_noise_check_args::offset",
    ][::core::mem::offset_of!(gb_noise_check_args, offset) - 24usize];
    [
        "Offset of field: gb_noise_check_args::partials",
    ][::core::mem::offset_of!(gb_noise_check_args, partials) - 32usize];
    [
        "Offset of field: gb_noise_check_args::partial_count",
    ][::core::mem::offset_of!(gb_noise_check_args, partial_count) - 40usize];
};
/// The findings of one reporter of `gb_noise_check`.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone, PartialEq)]
pub struct gb_noise_partial {
    /// Bytes compared.
    pub checked: u64,
    /// Bytes that differ.
    pub different: u64,
    /// Lowest differing offset from `ptr`, or `GB_NO_INDEX`.
    pub first: u64,
    /// Highest differing offset from `ptr`, or `GB_NO_INDEX`.
    pub last: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of gb_noise_partial"][::core::mem::size_of::<gb_noise_partial>() - 32usize];
    [
        "Alignment of gb_noise_partial",
    ][::core::mem::align_of::<gb_noise_partial>() - 8usize];
    [
        "Offset of field: gb_noise_partial::checked",
    ][::core::mem::offset_of!(gb_noise_partial, checked) - 0usize];
    [
        "Offset of field: gb_noise_partial::different",
    ][::core::mem::offset_of!(gb_noise_partial, different) - 8usize];
    [
        "Offset of field: gb_noise_partial::first",
    ][::core::mem::offset_of!(gb_noise_partial, first) - 16usize];
    [
        "Offset of field: gb_noise_partial::last",
    ][::core::mem::offset_of!(gb_noise_partial, last) - 24usize];
};
/// Copies some 128-byte lines of a buffer.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone, PartialEq)]
pub struct gb_lines_args {
    /// Start of the target buffer.
    pub target: u64,
    /// Start of the source buffer.
    pub source: u64,
    /// Bytes of each buffer; the last line may be short.
    pub bytes: u64,
    /// Chooses the lines.
    pub key: u64,
    /// Lines to copy; all if there are fewer.
    pub lines: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of gb_lines_args"][::core::mem::size_of::<gb_lines_args>() - 40usize];
    ["Alignment of gb_lines_args"][::core::mem::align_of::<gb_lines_args>() - 8usize];
    [
        "Offset of field: gb_lines_args::target",
    ][::core::mem::offset_of!(gb_lines_args, target) - 0usize];
    [
        "Offset of field: gb_lines_args::source",
    ][::core::mem::offset_of!(gb_lines_args, source) - 8usize];
    [
        "Offset of field: gb_lines_args::bytes",
    ][::core::mem::offset_of!(gb_lines_args, bytes) - 16usize];
    [
        "Offset of field: gb_lines_args::key",
    ][::core::mem::offset_of!(gb_lines_args, key) - 24usize];
    [
        "Offset of field: gb_lines_args::lines",
    ][::core::mem::offset_of!(gb_lines_args, lines) - 32usize];
};
/// Takes the time, then copies some lines of several buffers.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone, PartialEq)]
pub struct gb_reveal_args {
    /// Only the first `count` are used.
    pub buffers: [gb_lines_args; 8usize],
    /// Buffers.
    pub count: u64,
    /// Address of a `uint64_t` for nanoseconds of the device clock, or 0 to take no time.
    pub out: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of gb_reveal_args"][::core::mem::size_of::<gb_reveal_args>() - 336usize];
    ["Alignment of gb_reveal_args"][::core::mem::align_of::<gb_reveal_args>() - 8usize];
    [
        "Offset of field: gb_reveal_args::buffers",
    ][::core::mem::offset_of!(gb_reveal_args, buffers) - 0usize];
    [
        "Offset of field: gb_reveal_args::count",
    ][::core::mem::offset_of!(gb_reveal_args, count) - 320usize];
    [
        "Offset of field: gb_reveal_args::out",
    ][::core::mem::offset_of!(gb_reveal_args, out) - 328usize];
};
/// Loads from it.
pub const GB_TWIN_READ: gb_twin_access = 1;
/// Stores to it.
pub const GB_TWIN_WRITE: gb_twin_access = 2;
/// How a `gb_twin` accesses a buffer.
pub type gb_twin_access = ::core::ffi::c_uint;
/// A buffer of a case.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone, PartialEq)]
pub struct gb_twin_buffer {
    /// Start, aligned to 16 bytes.
    pub ptr: u64,
    /// Bytes; a remainder below 16 is left out.
    pub bytes: u64,
    /// A sum of `gb_twin_access`.
    pub access: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of gb_twin_buffer"][::core::mem::size_of::<gb_twin_buffer>() - 24usize];
    ["Alignment of gb_twin_buffer"][::core::mem::align_of::<gb_twin_buffer>() - 8usize];
    [
        "Offset of field: gb_twin_buffer::ptr",
    ][::core::mem::offset_of!(gb_twin_buffer, ptr) - 0usize];
    [
        "Offset of field: gb_twin_buffer::bytes",
    ][::core::mem::offset_of!(gb_twin_buffer, bytes) - 8usize];
    [
        "Offset of field: gb_twin_buffer::access",
    ][::core::mem::offset_of!(gb_twin_buffer, access) - 16usize];
};
/// Loads what a case reads and stores to what it writes.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone, PartialEq)]
pub struct gb_twin_args {
    /// Only the first `count` are used.
    pub buffers: [gb_twin_buffer; 8usize],
    /// Buffers.
    pub count: u64,
    /** Index from 0 of the part of every buffer, of `parts` equal parts, that this launch goes
 through.*/
    pub part: u64,
    /// At least 1.
    pub parts: u64,
    /// Where a `uint64_t` may be written, so that the compiler cannot remove the loads.
    pub sink: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of gb_twin_args"][::core::mem::size_of::<gb_twin_args>() - 224usize];
    ["Alignment of gb_twin_args"][::core::mem::align_of::<gb_twin_args>() - 8usize];
    [
        "Offset of field: gb_twin_args::buffers",
    ][::core::mem::offset_of!(gb_twin_args, buffers) - 0usize];
    [
        "Offset of field: gb_twin_args::count",
    ][::core::mem::offset_of!(gb_twin_args, count) - 192usize];
    [
        "Offset of field: gb_twin_args::part",
    ][::core::mem::offset_of!(gb_twin_args, part) - 200usize];
    [
        "Offset of field: gb_twin_args::parts",
    ][::core::mem::offset_of!(gb_twin_args, parts) - 208usize];
    [
        "Offset of field: gb_twin_args::sink",
    ][::core::mem::offset_of!(gb_twin_args, sink) - 216usize];
};
/// Goes through a flush buffer.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone, PartialEq)]
pub struct gb_flush_args {
    /// Start, aligned to 16 bytes.
    pub ptr: u64,
    /// Bytes; a remainder below 16 is left out.
    pub bytes: u64,
    /// Where a `uint64_t` may be written, so that the compiler cannot remove the loads.
    pub sink: u64,
    /// A `gb_flush_kind`.
    pub kind: u32,
    /// Zero.
    pub reserved: u32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of gb_flush_args"][::core::mem::size_of::<gb_flush_args>() - 32usize];
    ["Alignment of gb_flush_args"][::core::mem::align_of::<gb_flush_args>() - 8usize];
    [
        "Offset of field: gb_flush_args::ptr",
    ][::core::mem::offset_of!(gb_flush_args, ptr) - 0usize];
    [
        "Offset of field: gb_flush_args::bytes",
    ][::core::mem::offset_of!(gb_flush_args, bytes) - 8usize];
    [
        "Offset of field: gb_flush_args::sink",
    ][::core::mem::offset_of!(gb_flush_args, sink) - 16usize];
    [
        "Offset of field: gb_flush_args::kind",
    ][::core::mem::offset_of!(gb_flush_args, kind) - 24usize];
    [
        "Offset of field: gb_flush_args::reserved",
    ][::core::mem::offset_of!(gb_flush_args, reserved) - 28usize];
};
/// The keys of a digest, read by the kernel when it runs.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone, PartialEq)]
pub struct gb_digest_keys {
    /// Key of the digest itself.
    pub digest: u64,
    /// Key of the order in which tiles are chosen and visited.
    pub order: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of gb_digest_keys"][::core::mem::size_of::<gb_digest_keys>() - 16usize];
    ["Alignment of gb_digest_keys"][::core::mem::align_of::<gb_digest_keys>() - 8usize];
    [
        "Offset of field: gb_digest_keys::digest",
    ][::core::mem::offset_of!(gb_digest_keys, digest) - 0usize];
    [
        "Offset of field: gb_digest_keys::order",
    ][::core::mem::offset_of!(gb_digest_keys, order) - 8usize];
};
/// Digests some or all tiles of a buffer.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone, PartialEq)]
pub struct gb_digest_args {
    /// Start of the buffer.
    pub ptr: u64,
    /// Bytes; the last word is padded with zeros.
    pub bytes: u64,
    /// Address of `gb_digest_keys`. They may be written until the kernel runs.
    pub keys: u64,
    /// Bytes of a tile: a positive multiple of 16.
    pub tile_bytes: u64,
    /// Tiles to visit; 0 for all.
    pub tiles: u64,
    /// A `uint64_t` to which the digest is added, modulo 2^64.
    pub out: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of gb_digest_args"][::core::mem::size_of::<gb_digest_args>() - 48usize];
    ["Alignment of gb_digest_args"][::core::mem::align_of::<gb_digest_args>() - 8usize];
    [
        "Offset of field: gb_digest_args::ptr",
    ][::core::mem::offset_of!(gb_digest_args, ptr) - 0usize];
    [
        "Offset of field: gb_digest_args::bytes",
    ][::core::mem::offset_of!(gb_digest_args, bytes) - 8usize];
    [
        "Offset of field: gb_digest_args::keys",
    ][::core::mem::offset_of!(gb_digest_args, keys) - 16usize];
    [
        "Offset of field: gb_digest_args::tile_bytes",
    ][::core::mem::offset_of!(gb_digest_args, tile_bytes) - 24usize];
    [
        "Offset of field: gb_digest_args::tiles",
    ][::core::mem::offset_of!(gb_digest_args, tiles) - 32usize];
    [
        "Offset of field: gb_digest_args::out",
    ][::core::mem::offset_of!(gb_digest_args, out) - 40usize];
};
/// Compares a tensor with the expected one.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone, PartialEq)]
pub struct gb_check_args {
    /// First element of the tensor under test.
    pub got: u64,
    /// First element of the expected tensor.
    pub expected: u64,
    /// Elements.
    pub len: u64,
    /// Relative tolerance.
    pub rtol: f64,
    /// Absolute tolerance.
    pub atol: f64,
    /// Key of the noise that was written to `got` before the call.
    pub poison_key: u64,
    /// Offset of the first byte of `got` in that stream.
    pub poison_offset: u64,
    /// Elements that follow each other in that stream, as in `got`; 0 if all do.
    pub poison_row: u64,
    /// Bytes in that stream from the start of one such row to the next.
    pub poison_pitch: u64,
    /// Key of the order in which the tensor is visited.
    pub order_key: u64,
    /// `partial_count` times `gb_check_partial`; all are written.
    pub partials: u64,
    /// At least 1. At most this many reporters work: blocks on a GPU, threads on the CPU device.
    pub partial_count: u64,
    /// A `gb_dtype`.
    pub dtype: u32,
    /// A `gb_check_mode`.
    pub mode: u32,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of gb_check_args"][::core::mem::size_of::<gb_check_args>() - 104usize];
    ["Alignment of gb_check_args"][::core::mem::align_of::<gb_check_args>() - 8usize];
    [
        "Offset of field: gb_check_args::got",
    ][::core::mem::offset_of!(gb_check_args, got) - 0usize];
    [
        "Offset of field: gb_check_args::expected",
    ][::core::mem::offset_of!(gb_check_args, expected) - 8usize];
    [
        "Offset of field: gb_check_args::len",
    ][::core::mem::offset_of!(gb_check_args, len) - 16usize];
    [
        "Offset of field: gb_check_args::rtol",
    ][::core::mem::offset_of!(gb_check_args, rtol) - 24usize];
    [
        "Offset of field: gb_check_args::atol",
    ][::core::mem::offset_of!(gb_check_args, atol) - 32usize];
    [
        "Offset of field: gb_check_args::poison_key",
    ][::core::mem::offset_of!(gb_check_args, poison_key) - 40usize];
    [
        "Offset of field: gb_check_args::poison_offset",
    ][::core::mem::offset_of!(gb_check_args, poison_offset) - 48usize];
    [
        "Offset of field: gb_check_args::poison_row",
    ][::core::mem::offset_of!(gb_check_args, poison_row) - 56usize];
    [
        "Offset of field: gb_check_args::poison_pitch",
    ][::core::mem::offset_of!(gb_check_args, poison_pitch) - 64usize];
    [
        "Offset of field: gb_check_args::order_key",
    ][::core::mem::offset_of!(gb_check_args, order_key) - 72usize];
    [
        "Offset of field: gb_check_args::partials",
    ][::core::mem::offset_of!(gb_check_args, partials) - 80usize];
    [
        "Offset of field: gb_check_args::partial_count",
    ][::core::mem::offset_of!(gb_check_args, partial_count) - 88usize];
    [
        "Offset of field: gb_check_args::dtype",
    ][::core::mem::offset_of!(gb_check_args, dtype) - 96usize];
    [
        "Offset of field: gb_check_args::mode",
    ][::core::mem::offset_of!(gb_check_args, mode) - 100usize];
};
/// The findings of one reporter of `gb_check`.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone, PartialEq)]
pub struct gb_check_partial {
    /// Elements compared.
    pub checked: u64,
    /// Elements that satisfy the rule.
    pub matched: u64,
    /// Wrong elements that still hold their noise.
    pub unwritten: u64,
    /// Wrong elements that are NaN or infinite where the expected one is finite.
    pub non_finite: u64,
    /// Elements whose bits equal those of the first element of the tensor.
    pub same_as_first: u64,
    /// Lowest index of a wrong element, or `GB_NO_INDEX`.
    pub first_wrong: u64,
    /// Index of the largest error, or `GB_NO_INDEX` if there is none.
    pub worst: u64,
    /// The error at `worst`. An error that is not a number counts as infinite and largest.
    pub worst_error: f64,
    /// Largest |got - expected| where both are finite.
    pub max_abs: f64,
    /// Largest |got - expected| / |expected| where both are finite and expected is not zero.
    pub max_rel: f64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of gb_check_partial"][::core::mem::size_of::<gb_check_partial>() - 80usize];
    [
        "Alignment of gb_check_partial",
    ][::core::mem::align_of::<gb_check_partial>() - 8usize];
    [
        "Offset of field: gb_check_partial::checked",
    ][::core::mem::offset_of!(gb_check_partial, checked) - 0usize];
    [
        "Offset of field: gb_check_partial::matched",
    ][::core::mem::offset_of!(gb_check_partial, matched) - 8usize];
    [
        "Offset of field: gb_check_partial::unwritten",
    ][::core::mem::offset_of!(gb_check_partial, unwritten) - 16usize];
    [
        "Offset of field: gb_check_partial::non_finite",
    ][::core::mem::offset_of!(gb_check_partial, non_finite) - 24usize];
    [
        "Offset of field: gb_check_partial::same_as_first",
    ][::core::mem::offset_of!(gb_check_partial, same_as_first) - 32usize];
    [
        "Offset of field: gb_check_partial::first_wrong",
    ][::core::mem::offset_of!(gb_check_partial, first_wrong) - 40usize];
    [
        "Offset of field: gb_check_partial::worst",
    ][::core::mem::offset_of!(gb_check_partial, worst) - 48usize];
    [
        "Offset of field: gb_check_partial::worst_error",
    ][::core::mem::offset_of!(gb_check_partial, worst_error) - 56usize];
    [
        "Offset of field: gb_check_partial::max_abs",
    ][::core::mem::offset_of!(gb_check_partial, max_abs) - 64usize];
    [
        "Offset of field: gb_check_partial::max_rel",
    ][::core::mem::offset_of!(gb_check_partial, max_rel) - 72usize];
};
/// Writes the device's clock.
#[repr(C)]
#[derive(Debug, Default, Copy, Clone, PartialEq)]
pub struct gb_stamp_args {
    /// Address of a `uint64_t` for nanoseconds.
    pub out: u64,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of gb_stamp_args"][::core::mem::size_of::<gb_stamp_args>() - 8usize];
    ["Alignment of gb_stamp_args"][::core::mem::align_of::<gb_stamp_args>() - 8usize];
    [
        "Offset of field: gb_stamp_args::out",
    ][::core::mem::offset_of!(gb_stamp_args, out) - 0usize];
};
