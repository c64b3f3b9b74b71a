//! Grids and blocks of every shape.

use super::*;

#[test]
fn a_kernel_without_barriers_covers_a_grid_of_three_dimensions() {
    let text = r#"
        __global__ void mark(unsigned *out) {
            unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
            unsigned z = blockIdx.z * blockDim.z + threadIdx.z;
            unsigned width = gridDim.x * blockDim.x, height = gridDim.y * blockDim.y;
            out[(z * height + y) * width + x] += x + 100 * y + 10000 * z;
        }
    "#;
    let shape = LaunchShape {
        grid: [3, 2, 4],
        block: [5, 7, 2],
        dynamic_shared: 0,
    };
    let (width, height, depth) = (15, 14, 8);
    for threads in [1, 2, 3] {
        let mut out = vec![0u32; width * height * depth];
        launch(&pool(threads), kernel(text, "mark"), &shape, &[address(&mut out)]).expect("no fault");
        for (index, &value) in out.iter().enumerate() {
            let (x, y, z) = (index % width, index / width % height, index / width / height);
            assert_eq!(value as usize, x + 100 * y + 10000 * z);
        }
    }
}
