//! Tensor maps as the driver encodes them.

use std::ffi::c_uint;

use cudarc::driver::sys::{
    CUtensorMapDataType_enum as DataType, CUtensorMapFloatOOBfill_enum as Fill,
    CUtensorMapInterleave_enum as Interleaved, CUtensorMapL2promotion_enum as Promotion,
    CUtensorMapSwizzle_enum as Swizzled,
};
use gpubench::plan::{Interleave, L2Promotion, OutOfBoundsFill, Swizzle, TensorMapDescription, TensorMapElement};

use super::context::Context;
use crate::{DeviceError, DevicePtr};

/// A tensor map where the driver wants it.
#[repr(C, align(64))]
struct Encoded([u8; 128]);

/// Has the driver encode a map of memory at `base`.
///
/// # Errors
/// When the driver has no tensor maps, or refuses this one.
pub(super) fn encode(context: &Context, base: DevicePtr, map: &TensorMapDescription) -> Result<[u8; 128], DeviceError> {
    let Some(encode_tiled) = context.api.cuTensorMapEncodeTiled else {
        return Err(DeviceError::Unsupported(
            "use tensor maps: its driver is too old".to_owned(),
        ));
    };
    let mut encoded = Encoded([0; 128]);
    // SAFETY: the lists have an element for each dimension, and the strides one fewer, as admission checked; the map is 128 bytes, aligned to 64.
    // Nothing is read at `base`.
    let code = unsafe {
        encode_tiled(
            (&raw mut encoded).cast(),
            data_type(map.element),
            map.dims.len() as c_uint,
            base.0 as *mut _,
            map.dims.as_ptr(),
            map.strides.as_ptr(),
            map.box_dims.as_ptr(),
            map.element_strides.as_ptr(),
            interleave(map.interleave),
            swizzle(map.swizzle),
            promotion(map.l2_promotion),
            fill(map.fill),
        )
    };
    let check = context
        .api
        .check("cuTensorMapEncodeTiled", code, || format!("{base:?}, {map:?}"));
    Ok(check.map(|()| encoded.0)?)
}

fn data_type(element: TensorMapElement) -> c_uint {
    let data_type = match element {
        TensorMapElement::U8 => DataType::CU_TENSOR_MAP_DATA_TYPE_UINT8,
        TensorMapElement::U16 => DataType::CU_TENSOR_MAP_DATA_TYPE_UINT16,
        TensorMapElement::U32 => DataType::CU_TENSOR_MAP_DATA_TYPE_UINT32,
        TensorMapElement::I32 => DataType::CU_TENSOR_MAP_DATA_TYPE_INT32,
        TensorMapElement::U64 => DataType::CU_TENSOR_MAP_DATA_TYPE_UINT64,
        TensorMapElement::I64 => DataType::CU_TENSOR_MAP_DATA_TYPE_INT64,
        TensorMapElement::F16 => DataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
        TensorMapElement::F32 => DataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
        TensorMapElement::F64 => DataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
        TensorMapElement::BF16 => DataType::CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
        TensorMapElement::F32Ftz => DataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ,
        TensorMapElement::Tf32 => DataType::CU_TENSOR_MAP_DATA_TYPE_TFLOAT32,
        TensorMapElement::Tf32Ftz => DataType::CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ,
    };
    data_type as c_uint
}

fn interleave(interleave: Interleave) -> c_uint {
    let interleaved = match interleave {
        Interleave::None => Interleaved::CU_TENSOR_MAP_INTERLEAVE_NONE,
        Interleave::Bytes16 => Interleaved::CU_TENSOR_MAP_INTERLEAVE_16B,
        Interleave::Bytes32 => Interleaved::CU_TENSOR_MAP_INTERLEAVE_32B,
    };
    interleaved as c_uint
}

fn swizzle(swizzle: Swizzle) -> c_uint {
    let swizzled = match swizzle {
        Swizzle::None => Swizzled::CU_TENSOR_MAP_SWIZZLE_NONE,
        Swizzle::Bytes32 => Swizzled::CU_TENSOR_MAP_SWIZZLE_32B,
        Swizzle::Bytes64 => Swizzled::CU_TENSOR_MAP_SWIZZLE_64B,
        Swizzle::Bytes128 => Swizzled::CU_TENSOR_MAP_SWIZZLE_128B,
    };
    swizzled as c_uint
}

fn promotion(promotion: L2Promotion) -> c_uint {
    let promoted = match promotion {
        L2Promotion::None => Promotion::CU_TENSOR_MAP_L2_PROMOTION_NONE,
        L2Promotion::Bytes64 => Promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_64B,
        L2Promotion::Bytes128 => Promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
        L2Promotion::Bytes256 => Promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
    };
    promoted as c_uint
}

fn fill(fill: OutOfBoundsFill) -> c_uint {
    let filled = match fill {
        OutOfBoundsFill::Zeros => Fill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
        OutOfBoundsFill::NanRequestZeroFma => Fill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA,
    };
    filled as c_uint
}
