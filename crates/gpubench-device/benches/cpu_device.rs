//! The costs of the CPU device: nanoseconds per thread, per thread and barrier, and per launch. It
//! prints them and checks nothing.
//!
//! `cargo bench -p gpubench-device --bench cpu_device`

#![allow(unsafe_code)]

use std::ffi::c_void;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use gpubench::catalog::{Source, SourceFile, SourceForm};
use gpubench_device::compilers::{Compiler as _, HostCompiler, Wanted};
use gpubench_device::cpu::executor::{Kernel, LaunchShape, Module, Pool, ScheduleSeed};

const KERNELS: &str = r#"
__global__ void axpy(const float *x, float *y, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}

__global__ void barriers(int *out) {
    int sum = 0;
    for (int i = 0; i < 64; i++) {
        sum += i * threadIdx.x;
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void shuffles(int *out) {
    int sum = threadIdx.x;
    for (int i = 0; i < 64; i++) sum += __shfl_down_sync(0xffffffff, sum, 1);
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void reduce(const float *in, float *out) {
    __shared__ float sums[256];
    sums[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = sums[0];
}

__global__ void reduce_dynamic(const float *in, float *out) {
    extern __shared__ float dynamic_sums[];
    dynamic_sums[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) dynamic_sums[threadIdx.x] += dynamic_sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = dynamic_sums[0];
}

__global__ void copy_dynamic(const float *in, float *out) {
    extern __shared__ float copied[];
    copied[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
    out[blockIdx.x * 256 + threadIdx.x] = copied[threadIdx.x];
}

__global__ void matmul(const float *a, const float *b, float *c, int n) {
    __shared__ float as[16][16], bs[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        as[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
        bs[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + col];
        __syncthreads();
        for (int i = 0; i < 16; i++) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
        __syncthreads();
    }
    c[row * n + col] = sum;
}

__global__ void empty() {}
"#;

const MEBI: usize = 1 << 20;

fn main() {
    let Some(module) = compiled() else { return };
    let kernel = |name: &str| module.kernel(name).expect("the module was compiled with this name");
    let pools = [1, 2].map(|threads| Pool::new(NonZeroUsize::new(threads).expect("not zero"), ScheduleSeed::Natural));

    let plain = plain_axpy();
    println!("plain axpy loop, 1 Mi elements          {plain:8.2} ns/element");
    let axpy = pools.each_ref().map(|pool| axpy(pool, kernel("axpy")));
    print_pair("axpy, 1 Mi threads", axpy, "ns/thread");
    println!(
        "  of the plain loop's speed             {:8.0} %",
        100.0 * plain / axpy[0]
    );
    for block in [32, 64, 128, 256, 512, 1024] {
        let times = pools
            .each_ref()
            .map(|pool| indexed(pool, kernel("barriers"), block) / 64.0);
        print_pair(&format!("barrier, block of {block}"), times, "ns/thread and barrier");
    }
    for block in [32, 256, 1024] {
        let times = pools
            .each_ref()
            .map(|pool| indexed(pool, kernel("shuffles"), block) / 64.0);
        print_pair(&format!("shuffle, block of {block}"), times, "ns/thread and shuffle");
    }
    print_pair(
        "reduction, 256 threads, 9 barriers",
        pools.each_ref().map(|pool| blocks_of_256(pool, kernel("reduce"), 0)),
        "ns/thread",
    );
    print_pair(
        "the same in dynamic shared memory",
        pools
            .each_ref()
            .map(|pool| blocks_of_256(pool, kernel("reduce_dynamic"), 1024)),
        "ns/thread",
    );
    print_pair(
        "copy through it, without barriers",
        pools
            .each_ref()
            .map(|pool| blocks_of_256(pool, kernel("copy_dynamic"), 1024)),
        "ns/thread",
    );
    print_pair(
        "tiled matmul 512, 64 barriers",
        pools.each_ref().map(|pool| matmul(pool, kernel("matmul"))),
        "ns/thread",
    );
    for (blocks, text) in [(1, "launch of one empty block"), (2, "launch of two empty blocks")] {
        let times = pools
            .each_ref()
            .map(|pool| best(200, || run(pool, kernel("empty"), [blocks, 1, 1], [32, 1, 1], &[])));
        print_pair(text, times, "ns");
    }
}

fn compiled() -> Option<Module> {
    let source = Source {
        name: "cpu_device.cu".into(),
        form: SourceForm::Cuda,
        files: vec![SourceFile {
            path: "cpu_device.cu".into(),
            contents: KERNELS.into(),
        }],
        options: Vec::new(),
    };
    let names = [
        "axpy",
        "barriers",
        "shuffles",
        "reduce",
        "reduce_dynamic",
        "copy_dynamic",
        "matmul",
        "empty",
    ]
    .map(String::from);
    let cache = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("cpu-device-kernels");
    let compiler = HostCompiler::find().map_err(|error| eprintln!("{error}")).ok()?;
    let library = compiler
        .compile(Wanted {
            source: &source,
            names: &names,
            cache: &cache,
            interrupt: &AtomicBool::new(false),
            most: None,
        })
        .map_err(|error| eprintln!("{error}"))
        .ok()?;
    // SAFETY: the library was built from the source above.
    unsafe { Module::load(&library) }
        .map_err(|error| eprintln!("{error}"))
        .ok()
}

fn print_pair(what: &str, [one, two]: [f64; 2], unit: &str) {
    println!(
        "{what:<40}{one:8.2} / {two:.2} {unit} on 1 / 2 threads, speed-up {:.2}",
        one / two
    );
}

/// Returns the shortest of several repetitions in nanoseconds, after an uncounted one.
fn best(repetitions: u32, mut run: impl FnMut()) -> f64 {
    run();
    let time = |_| {
        let begun = Instant::now();
        run();
        begun.elapsed().as_nanos() as f64
    };
    (0..repetitions).map(time).fold(f64::INFINITY, f64::min)
}

fn run(pool: &Pool, kernel: Kernel, grid: [u32; 3], block: [u32; 3], arguments: &[*const c_void]) {
    let shape = LaunchShape {
        grid,
        block,
        dynamic_shared: 0,
    };
    run_shape(pool, kernel, shape, arguments);
}

fn run_shape(pool: &Pool, kernel: Kernel, shape: LaunchShape, arguments: &[*const c_void]) {
    // SAFETY: each caller passes its kernel's arguments.
    unsafe { pool.launch(kernel, &shape, arguments) }.expect("the kernels of this benchmark do not fault");
}

fn argument<T>(value: &T) -> *const c_void {
    std::ptr::from_ref(value).cast()
}

fn plain_axpy() -> f64 {
    let (x, mut y) = (vec![1.0f32; MEBI], vec![2.0f32; MEBI]);
    let a = std::hint::black_box(0.5f32);
    best(50, || {
        for (y, x) in y.iter_mut().zip(&x) {
            *y += a * x;
        }
        std::hint::black_box(&mut y);
    }) / MEBI as f64
}

fn axpy(pool: &Pool, kernel: Kernel) -> f64 {
    let (x, mut y) = (vec![1.0f32; MEBI], vec![2.0f32; MEBI]);
    let (x, y, a, n) = (x.as_ptr(), y.as_mut_ptr(), 0.5f32, MEBI as i32);
    let arguments = [argument(&x), argument(&y), argument(&a), argument(&n)];
    best(50, || {
        run(pool, kernel, [MEBI as u32 / 256, 1, 1], [256, 1, 1], &arguments)
    }) / MEBI as f64
}

/// A kernel that writes one integer for each of 2 Ki threads. It is short, so that another process
/// seldom disturbs the best repetition.
fn indexed(pool: &Pool, kernel: Kernel, block: u32) -> f64 {
    let threads = 1 << 11;
    let mut out = vec![0i32; threads];
    let out = out.as_mut_ptr();
    best(100, || {
        run(
            pool,
            kernel,
            [threads as u32 / block, 1, 1],
            [block, 1, 1],
            &[argument(&out)],
        )
    }) / threads as f64
}

/// A kernel over 16 Ki floats in blocks of 256 threads.
fn blocks_of_256(pool: &Pool, kernel: Kernel, dynamic_shared: u32) -> f64 {
    let threads = 1 << 14;
    let (input, mut out) = (vec![1.0f32; threads], vec![0.0f32; threads]);
    let (input, out) = (input.as_ptr(), out.as_mut_ptr());
    let arguments = [argument(&input), argument(&out)];
    let shape = LaunchShape {
        grid: [threads as u32 / 256, 1, 1],
        block: [256, 1, 1],
        dynamic_shared,
    };
    best(100, || run_shape(pool, kernel, shape, &arguments)) / threads as f64
}

/// A corner of 64 x 64 elements of the product.
fn matmul(pool: &Pool, kernel: Kernel) -> f64 {
    let n = 512usize;
    let (a, b, mut c) = (vec![1.0f32; n * n], vec![2.0f32; n * n], vec![0.0f32; n * n]);
    let (a, b, c, side) = (a.as_ptr(), b.as_ptr(), c.as_mut_ptr(), n as i32);
    let arguments = [argument(&a), argument(&b), argument(&c), argument(&side)];
    best(50, || run(pool, kernel, [4, 4, 1], [16, 16, 1], &arguments)) / 4096.0
}
