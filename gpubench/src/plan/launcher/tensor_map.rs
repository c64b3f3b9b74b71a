//! Tensor maps in a benchmark function.

use super::argument::{KernelArg, RecordedArgument};
use super::buffer::{BufferParam, View};
use crate::catalog::DType;
use crate::element::Element;
use crate::plan::{Interleave, L2Promotion, OutOfBoundsFill, Swizzle, TensorMapDescription, TensorMapElement};

/// A tensor map for TMA copies. The kernel takes it as `const __grid_constant__ CUtensorMap`.
///
/// Dimensions and boxes are innermost first, as in `cuTensorMapEncodeTiled`. If the map breaks a
/// rule of that function, the launch that uses it returns an error. Needs compute capability 9.0.
///
/// ```
/// use gpubench::plan::Swizzle;
/// use gpubench::prelude::*;
/// # cuda_source!(MATMUL = "../../../doc/image.cu");
///
/// fn tiles(launcher: &mut Launcher, m: usize, k: usize, a: In<F16>, c: Out<f32>) -> Result<()> {
///     // A row-major matrix of m rows and k columns, copied in tiles of 64 columns and 128 rows.
///     let a = TensorMap::tiled(a, [k, m], [64, 128]).swizzle(Swizzle::Bytes128);
///     launcher.launch(MATMUL.kernel("tiles"), Grid::new(m / 128, 256), (a, c, k))
/// }
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct TensorMap {
    view: View,
    description: TensorMapDescription,
}

impl TensorMap {
    /// Returns a map of a buffer, or of part of one, without gaps between elements. Copies move
    /// boxes of `box_dims` elements.
    pub fn tiled<B: BufferParam, const RANK: usize>(
        buffer: B,
        dims: [usize; RANK],
        box_dims: [usize; RANK],
    ) -> TensorMap {
        let element = element_of(B::Element::DTYPE);
        let dims: Vec<u64> = dims.iter().map(|&dim| dim as u64).collect();
        let mut bytes = element.size();
        let mut strides = Vec::with_capacity(RANK.saturating_sub(1));
        for dim in dims.iter().take(RANK.saturating_sub(1)) {
            bytes = bytes.saturating_mul(*dim);
            strides.push(bytes);
        }
        TensorMap {
            view: buffer.view(),
            description: TensorMapDescription {
                element,
                dims,
                strides,
                // Saturates: a value that large is an error where the map is used.
                box_dims: box_dims
                    .iter()
                    .map(|&dim| u32::try_from(dim).unwrap_or(u32::MAX))
                    .collect(),
                element_strides: vec![1; RANK],
                interleave: Interleave::None,
                swizzle: Swizzle::None,
                l2_promotion: L2Promotion::None,
                fill: OutOfBoundsFill::Zeros,
            },
        }
    }

    /// Sets the strides in bytes of all dimensions except the first.
    pub fn strides(mut self, bytes: impl IntoIterator<Item = usize>) -> TensorMap {
        self.description.strides = bytes.into_iter().map(|bytes| bytes as u64).collect();
        self
    }

    /// Sets the steps between the elements of a box.
    pub fn element_strides(mut self, steps: impl IntoIterator<Item = u32>) -> TensorMap {
        self.description.element_strides = steps.into_iter().collect();
        self
    }

    /// Sets another element type for reading, such as [`TensorMapElement::Tf32`] for `f32`.
    pub fn element(mut self, element: TensorMapElement) -> TensorMap {
        self.description.element = element;
        self
    }

    /// Interleaves the inner dimensions.
    pub fn interleave(mut self, interleave: Interleave) -> TensorMap {
        self.description.interleave = interleave;
        self
    }

    /// Swizzles boxes in shared memory.
    pub fn swizzle(mut self, swizzle: Swizzle) -> TensorMap {
        self.description.swizzle = swizzle;
        self
    }

    /// Sets the granularity of fetches into the L2 cache.
    pub fn l2_promotion(mut self, promotion: L2Promotion) -> TensorMap {
        self.description.l2_promotion = promotion;
        self
    }

    /// Sets the fill value for elements out of bounds, instead of zero.
    pub fn fill(mut self, fill: OutOfBoundsFill) -> TensorMap {
        self.description.fill = fill;
        self
    }
}

impl KernelArg for TensorMap {
    fn argument(&self) -> RecordedArgument {
        RecordedArgument::TensorMap(self.view, self.description.clone())
    }
}

/// Returns a map element type with the same size: TMA copies bits and does not compute.
fn element_of(dtype: DType) -> TensorMapElement {
    match dtype {
        DType::U8 | DType::I8 | DType::F8E4M3 | DType::F8E5M2 => TensorMapElement::U8,
        DType::U16 | DType::I16 => TensorMapElement::U16,
        DType::U32 => TensorMapElement::U32,
        DType::I32 => TensorMapElement::I32,
        DType::U64 | DType::Complex32 => TensorMapElement::U64,
        DType::I64 => TensorMapElement::I64,
        DType::F16 => TensorMapElement::F16,
        DType::BF16 => TensorMapElement::BF16,
        DType::F32 => TensorMapElement::F32,
        DType::F64 => TensorMapElement::F64,
    }
}
