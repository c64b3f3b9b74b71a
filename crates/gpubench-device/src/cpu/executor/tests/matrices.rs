//! `nvcuda::wmma`: the lanes of a warp hold and multiply matrices.

use super::*;
use crate::cpu::executor::FaultKind;

/// Products of matrices of each shape, type and layout, compared with sums in the kernel.
const PRODUCTS: &str = r#"
#include <mma.h>
using namespace nvcuda;

template <class T> __device__ T number(int i) { return T(float((i * 7 + i / 5) % 11 - 5)); }
template <> __device__ unsigned char number(int i) { return (i * 7 + i / 5) % 11; }

template <int M, int N, int K, class F, class T, class C, class D, class LA, class LB>
__noinline__ __device__ void multiply(int *wrong, wmma::layout_t layout) {
    const unsigned lane = threadIdx.x % 32;
    const bool rows_of_a = std::is_same<LA, wmma::row_major>::value, rows_of_b = std::is_same<LB, wmma::row_major>::value;
    __shared__ T a[M * K], b[K * N];
    __shared__ C c[M * N];
    __shared__ D d[M * N];
    for (int i = lane; i < M * K; i += 32) a[i] = number<T>(i);
    for (int i = lane; i < K * N; i += 32) b[i] = number<T>(i + 3);
    for (int i = lane; i < M * N; i += 32) c[i] = C(float(i % 13));
    __syncthreads();
    wmma::fragment<wmma::matrix_a, M, N, K, F, LA> x;
    wmma::fragment<wmma::matrix_b, M, N, K, F, LB> y;
    wmma::fragment<wmma::accumulator, M, N, K, C> z;
    wmma::fragment<wmma::accumulator, M, N, K, D> sums;
    wmma::load_matrix_sync(x, a, rows_of_a ? K : M);
    wmma::load_matrix_sync(y, b, rows_of_b ? N : K);
    wmma::load_matrix_sync(z, c, layout == wmma::mem_row_major ? N : M, layout);
    wmma::mma_sync(sums, x, y, z);
    for (int i = 0; i < sums.num_elements; i++) sums.x[i] = D(2 * float(sums.x[i]));
    wmma::store_matrix_sync(d, sums, layout == wmma::mem_row_major ? N : M, layout);
    __syncthreads();
    for (int i = lane; i < M * N; i += 32) {
        const int row = layout == wmma::mem_row_major ? i / N : i % M, column = layout == wmma::mem_row_major ? i % N : i / M;
        float sum = float(c[i]);
        for (int k = 0; k < K; k++)
            sum += float(a[rows_of_a ? row * K + k : k * M + row]) * float(b[rows_of_b ? k * N + column : column * K + k]);
        if (float(d[i]) != 2 * sum) atomicAdd(wrong, 1);
    }
    __syncthreads();
}

template <int M, int N, int K, class F, class T, class C, class D>
__device__ void multiply(int *wrong) {
    multiply<M, N, K, F, T, C, D, wmma::row_major, wmma::col_major>(wrong, wmma::mem_col_major);
    multiply<M, N, K, F, T, C, D, wmma::col_major, wmma::row_major>(wrong, wmma::mem_row_major);
}

template <int M, int N>
__device__ void of_shape(int *wrong) {
    multiply<M, N, 16, __half, __half, float, float>(wrong);
    multiply<M, N, 16, __half, __half, __half, __half>(wrong);
    multiply<M, N, 16, __half, __half, __half, float>(wrong);
    multiply<M, N, 16, __nv_bfloat16, __nv_bfloat16, float, float>(wrong);
    multiply<M, N, 16, signed char, signed char, int, int>(wrong);
    multiply<M, N, 16, unsigned char, unsigned char, int, int>(wrong);
}

__global__ void products(int *wrong) {
    of_shape<16, 16>(wrong + 0);
    of_shape<32, 8>(wrong + 1);
    of_shape<8, 32>(wrong + 2);
    multiply<16, 16, 8, wmma::precision::tf32, float, float, float>(wrong + 3);
    multiply<8, 8, 4, double, double, double, double>(wrong + 4);
}
"#;

#[test]
fn a_warp_multiplies_matrices_of_every_shape_type_and_layout() {
    let kernel = kernel(PRODUCTS, "products");
    for pool in [pool(1), permuted(1)] {
        let mut wrong = [0; 5];
        launch(&pool, kernel, &line(1, 32), &[address(&mut wrong)]).expect("no fault");
        assert_eq!(wrong, [0; 5], "wrong elements of each kind");
    }
}

#[test]
fn warps_of_a_block_multiply_on_their_own() {
    let text = "
        #define M 16
        #define N 16
        #define K 16
        #include <mma.h>
        __global__ void squares(half *x, float *y) {
            using namespace nvcuda::wmma;
            const unsigned warp = threadIdx.y;
            fragment<matrix_a, M, N, K, half, row_major> a;
            fragment<matrix_b, M, N, K, half, row_major> b;
            fragment<accumulator, M, N, K, float> sums;
            fill_fragment(sums, 0.0f);
            load_matrix_sync(a, x, K);
            fill_fragment(b, half(float(warp)));
            for (unsigned k = 0; k <= warp; k++) mma_sync(sums, a, b, sums);
            store_matrix_sync(y + warp * 256, sums, 16, mem_row_major);
        }";
    let mut x = [0x3c00u16; 256];
    let mut y = [0f32; 4 * 256];
    let shape = LaunchShape {
        block: [32, 4, 1],
        ..line(1, 32)
    };
    launch(
        &pool(2),
        kernel(text, "squares"),
        &shape,
        &[address(&mut x), address(&mut y)],
    )
    .expect("no fault");
    let expected: Vec<f32> = (0..4).flat_map(|warp| [(16 * warp * (warp + 1)) as f32; 256]).collect();
    assert_eq!(y.as_slice(), expected);
}

#[test]
fn integers_saturate_on_request_and_tf32_has_ten_bits() {
    let text = "
        #include <mma.h>
        __global__ void edges(int *sums, float *tf32) {
            using namespace nvcuda::wmma;
            fragment<matrix_a, 16, 16, 16, signed char, row_major> a;
            fragment<matrix_b, 16, 16, 16, signed char, col_major> b;
            fragment<accumulator, 16, 16, 16, int> c, d;
            fill_fragment(a, (signed char)100);
            fill_fragment(b, (signed char)100);
            fill_fragment(c, INT_MAX);
            mma_sync(d, a, b, c, true);
            if (threadIdx.x == 0) sums[0] = d.x[0];
            mma_sync(d, a, b, c);
            if (threadIdx.x == 31) sums[1] = d.x[7];
            fragment<matrix_a, 16, 16, 8, precision::tf32, row_major> e;
            fragment<matrix_b, 16, 16, 8, precision::tf32, col_major> f;
            fragment<accumulator, 16, 16, 8, float> g;
            fill_fragment(e, 0x1.003p0f);
            fill_fragment(f, 0.125f);
            fill_fragment(g, 0.0f);
            mma_sync(g, e, f, g);
            if (threadIdx.x == 0) { tf32[0] = g.x[0]; tf32[1] = __float_to_tf32(0x1.003p0f); tf32[2] = __float_to_tf32(-0x1.002p0f); }
        }";
    let (mut sums, mut tf32) = ([0i32; 2], [0f32; 3]);
    let arguments = [address(&mut sums), address(&mut tf32)];
    launch(&pool(1), kernel(text, "edges"), &line(1, 32), &arguments).expect("no fault");
    assert_eq!(sums, [i32::MAX, i32::MAX.wrapping_add(160_000)]);
    assert_eq!(tf32, [1.0, 1.0 + 2f32.powi(-10), -1.0 - 2f32.powi(-10)]);
}

/// The numbers are those that an H200 gives.
#[test]
fn lanes_hold_the_elements_of_accumulators_that_they_hold_on_a_gpu() {
    let text = "
        #include <mma.h>
        template <int M, int N> __device__ void places(const float *x, float *y) {
            nvcuda::wmma::fragment<nvcuda::wmma::accumulator, M, N, 16, float> f;
            nvcuda::wmma::load_matrix_sync(f, x, N, nvcuda::wmma::mem_row_major);
            if (threadIdx.x == 5) for (int i = 0; i < 8; i++) y[i] = f.x[i];
        }
        __global__ void all_places(const float *x, float *y) {
            places<16, 16>(x, y);
            places<32, 8>(x, y + 8);
            places<8, 32>(x, y + 16);
        }";
    let (mut x, mut y): (Vec<f32>, _) = ((0u8..=255).map(f32::from).collect(), [0f32; 24]);
    let arguments = [address(&mut x), address(&mut y)];
    launch(&pool(1), kernel(text, "all_places"), &line(1, 32), &arguments).expect("no fault");
    assert_eq!(y[..8], [18.0, 19.0, 146.0, 147.0, 26.0, 27.0, 154.0, 155.0]);
    assert_eq!(y[8..16], [10.0, 11.0, 74.0, 75.0, 138.0, 139.0, 202.0, 203.0]);
    assert_eq!(y[16..], [65.0, 97.0, 73.0, 105.0, 81.0, 113.0, 89.0, 121.0]);
}

#[test]
fn a_warp_without_all_its_lanes_multiplies_nothing() {
    let text = "
        #include <mma.h>
        __global__ void some(float *y, int end) {
            nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> f;
            if (threadIdx.x >= end) return;
            nvcuda::wmma::fill_fragment(f, 1.0f);
            nvcuda::wmma::store_matrix_sync(y, f, 16, nvcuda::wmma::mem_row_major);
        }";
    let kernel = kernel(text, "some");
    let mut y = [0f32; 256];
    for (threads, end) in [(16, 16), (32, 16)] {
        let arguments = [address(&mut y), end];
        let fault = launch(&pool(1), kernel, &line(1, threads), &arguments).expect_err("lanes are missing");
        assert!(matches!(fault.kind, FaultKind::Trap { line: 7 }), "{fault:?}");
    }
}
