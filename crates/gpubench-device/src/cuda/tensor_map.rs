//! Tensor maps in the driver's encoding.

use std::ffi::c_uint;

use gpubench::plan::TensorMapDescription;

use super::context::Context;
use crate::{DeviceError, DevicePtr};

/// A tensor map with the alignment that the driver needs.
#[repr(C, align(64))]
struct Encoded([u8; 128]);

/// Encodes a map of the memory at `base`. The words of a description have the driver's numbers.
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
    // SAFETY: the lists have one element per dimension, and the strides one fewer, as admission
    // checked; the map is 128 bytes, aligned to 64. Nothing is read at `base`.
    let code = unsafe {
        encode_tiled(
            (&raw mut encoded).cast(),
            map.element as c_uint,
            map.dims.len() as c_uint,
            base.0 as *mut _,
            map.dims.as_ptr(),
            map.strides.as_ptr(),
            map.box_dims.as_ptr(),
            map.element_strides.as_ptr(),
            map.interleave as c_uint,
            map.swizzle as c_uint,
            map.l2_promotion as c_uint,
            map.fill as c_uint,
        )
    };
    let check = context
        .api
        .check("cuTensorMapEncodeTiled", code, || format!("{base:?}, {map:?}"));
    Ok(check.map(|()| encoded.0)?)
}

#[cfg(test)]
mod tests {
    use cudarc::driver::sys::{
        CUtensorMapDataType_enum as DataType, CUtensorMapFloatOOBfill_enum as Fill,
        CUtensorMapInterleave_enum as Interleaved, CUtensorMapL2promotion_enum as Promotion,
        CUtensorMapSwizzle_enum as Swizzled,
    };
    use gpubench::plan::{Interleave, L2Promotion, OutOfBoundsFill, Swizzle, TensorMapElement};

    #[test]
    fn words_of_a_map_match_the_drivers_numbers() {
        for (ours, theirs) in [
            (
                TensorMapElement::U8 as u32,
                DataType::CU_TENSOR_MAP_DATA_TYPE_UINT8 as u32,
            ),
            (
                TensorMapElement::U16 as u32,
                DataType::CU_TENSOR_MAP_DATA_TYPE_UINT16 as u32,
            ),
            (
                TensorMapElement::U32 as u32,
                DataType::CU_TENSOR_MAP_DATA_TYPE_UINT32 as u32,
            ),
            (
                TensorMapElement::I32 as u32,
                DataType::CU_TENSOR_MAP_DATA_TYPE_INT32 as u32,
            ),
            (
                TensorMapElement::U64 as u32,
                DataType::CU_TENSOR_MAP_DATA_TYPE_UINT64 as u32,
            ),
            (
                TensorMapElement::I64 as u32,
                DataType::CU_TENSOR_MAP_DATA_TYPE_INT64 as u32,
            ),
            (
                TensorMapElement::F16 as u32,
                DataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT16 as u32,
            ),
            (
                TensorMapElement::F32 as u32,
                DataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT32 as u32,
            ),
            (
                TensorMapElement::F64 as u32,
                DataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT64 as u32,
            ),
            (
                TensorMapElement::BF16 as u32,
                DataType::CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 as u32,
            ),
            (
                TensorMapElement::F32Ftz as u32,
                DataType::CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ as u32,
            ),
            (
                TensorMapElement::Tf32 as u32,
                DataType::CU_TENSOR_MAP_DATA_TYPE_TFLOAT32 as u32,
            ),
            (
                TensorMapElement::Tf32Ftz as u32,
                DataType::CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ as u32,
            ),
            (
                Interleave::None as u32,
                Interleaved::CU_TENSOR_MAP_INTERLEAVE_NONE as u32,
            ),
            (
                Interleave::Bytes16 as u32,
                Interleaved::CU_TENSOR_MAP_INTERLEAVE_16B as u32,
            ),
            (
                Interleave::Bytes32 as u32,
                Interleaved::CU_TENSOR_MAP_INTERLEAVE_32B as u32,
            ),
            (Swizzle::None as u32, Swizzled::CU_TENSOR_MAP_SWIZZLE_NONE as u32),
            (Swizzle::Bytes32 as u32, Swizzled::CU_TENSOR_MAP_SWIZZLE_32B as u32),
            (Swizzle::Bytes64 as u32, Swizzled::CU_TENSOR_MAP_SWIZZLE_64B as u32),
            (Swizzle::Bytes128 as u32, Swizzled::CU_TENSOR_MAP_SWIZZLE_128B as u32),
            (
                L2Promotion::None as u32,
                Promotion::CU_TENSOR_MAP_L2_PROMOTION_NONE as u32,
            ),
            (
                L2Promotion::Bytes64 as u32,
                Promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_64B as u32,
            ),
            (
                L2Promotion::Bytes128 as u32,
                Promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_128B as u32,
            ),
            (
                L2Promotion::Bytes256 as u32,
                Promotion::CU_TENSOR_MAP_L2_PROMOTION_L2_256B as u32,
            ),
            (
                OutOfBoundsFill::Zeros as u32,
                Fill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE as u32,
            ),
            (
                OutOfBoundsFill::NanRequestZeroFma as u32,
                Fill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA as u32,
            ),
        ] {
            assert_eq!(ours, theirs);
        }
    }
}
