//! Matrix layouts, as the kernels take them.

use gpubench::prelude::*;

/// Row stride and column stride, in elements.
pub type Strides = [usize; 2];

/// Contiguous rows.
pub fn contiguous(columns: usize) -> Strides {
    [columns, 1]
}

/// One row, broadcast to all rows.
pub const SAME_ROW: Strides = [0, 1];

/// Declares the constant `layout`: both extents, then the strides of each of `matrices`.
pub fn with_layout(tensors: Tensors, extents: [usize; 2], matrices: &[Strides]) -> Tensors {
    let table: Vec<u64> = [&[extents], matrices]
        .concat()
        .as_flattened()
        .iter()
        .map(|&word| word as u64)
        .collect();
    tensors
        .constant("layout", u64::shape(table.len()), ByCpu)
        .generate(move |_: &mut Rng, data: &mut CpuData| data.slice::<u64>("layout").copy_from_slice(&table))
}
