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

#[test]
fn several_threads_can_launch_on_a_pool_in_turn() {
    let text = r#"
        __global__ void reverse(int *out, int base) {
            __shared__ int tile[128];
            tile[threadIdx.x] = base + threadIdx.x;
            __syncthreads();
            out[blockIdx.x * 128 + threadIdx.x] = tile[127 - threadIdx.x];
        }
        __global__ void rotate(int *out, int base) {
            int v = __shfl_sync(~0u, base + int(threadIdx.x), threadIdx.x + 1);
            __syncthreads();
            out[blockIdx.x * 128 + threadIdx.x] = v;
        }
    "#;
    let module = build(text, &["reverse", "rotate"]).expect("it compiles");
    let kernels = ["reverse", "rotate"].map(|name| module.kernel(name).expect("the kernel is exported"));
    let pool = pool(2);
    for round in 0..6 {
        std::thread::scope(|scope| {
            let launcher = scope.spawn(|| {
                for (number, &kernel) in kernels.iter().enumerate() {
                    let mut out = [0; 512];
                    launch(&pool, kernel, &line(4, 128), &[address(&mut out), round * 1000]).expect("no fault");
                    for (index, &value) in out.iter().enumerate() {
                        let thread = index % 128;
                        let from = if number == 0 {
                            127 - thread
                        } else {
                            thread / 32 * 32 + (thread + 1) % 32
                        };
                        assert_eq!(value as u64, round * 1000 + from as u64);
                    }
                }
            });
            launcher.join().expect("the launches are right");
        });
    }
}

#[test]
fn a_launch_wakes_a_sleeping_pool() {
    let text = "__global__ void mark(int *out) { out[blockIdx.x * blockDim.x + threadIdx.x] += 1; }";
    let kernel = kernel(text, "mark");
    let pool = pool(3);
    let mut out = vec![0; 64 * 1000];
    for _ in 0..3 {
        std::thread::sleep(std::time::Duration::from_millis(10));
        launch(&pool, kernel, &line(1000, 64), &[address(&mut out)]).expect("no fault");
        pool.wake();
    }
    assert!(out.iter().all(|&count| count == 3));
}
