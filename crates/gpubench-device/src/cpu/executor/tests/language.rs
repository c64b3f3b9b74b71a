//! What a CUDA C++ source may use besides its threads: types, functions, atomics, headers.

use super::*;

#[test]
fn vector_types_have_their_sizes_and_alignments() {
    expect_checks(
        "#include <cuda_runtime.h>\n#include \"device_launch_parameters.h\"",
        "static_assert(sizeof(float4) == 16 && alignof(float4) == 16 && alignof(float2) == 8 && alignof(float3) == 4);
         static_assert(sizeof(uchar3) == 3 && sizeof(double4) == 32 && alignof(double4) == 16 && sizeof(ulonglong2) == 16);
         float4 v = make_float4(1, 2, 3, 4); int3 i{1, 2, 3}; uchar4 c = make_uchar4(255, 1, 2, 3);
         CHECK(v.w == 4 && i.z == 3 && c.x == 255);
         dim3 d(2, 3); uint3 t = threadIdx; auto b = blockDim; dim3 g = gridDim;
         CHECK(d.z == 1 && t.x == 0 && b.x == 1 && g.x == 1 && warpSize == 32);",
    );
}

#[test]
fn half_numbers_round_to_nearest_even() {
    expect_checks(
        "#include <cuda_fp16.h>",
        "CHECK(__half_as_ushort(__float2half(1.0f)) == 0x3c00);
         CHECK(__half_as_ushort(__float2half(65519.0f)) == 0x7bff && __half_as_ushort(__float2half(65520.0f)) == 0x7c00);
         CHECK(__half_as_ushort(__float2half(0x1.002p0f)) == 0x3c00 && __half_as_ushort(__float2half(0x1.006p0f)) == 0x3c02);
         CHECK(__half_as_ushort(__float2half(0x1p-24f)) == 1 && __half_as_ushort(__float2half(0x1p-26f)) == 0);
         for (unsigned bits = 0; bits < 0x10000; bits++) {
             half h = __ushort_as_half((unsigned short)bits);
             float f = __half2float(h);
             if (f == f) CHECK(__half_as_ushort(__float2half(f)) == bits);
             else CHECK(__hisnan(h));
         }
         half a = 1.5f, b = 2; a += b; CHECK(float(a) == 3.5f && a > b && float(-a) == -3.5f);
         CHECK(float(__hfma(half(0x1.004p0f), half(0x1.004p0f), half(-0x1.008p0f))) == 0x1p-20f);
         half2 p = __floats2half2_rn(1, 2); p = __hfma2(p, p, __float2half2_rn(1)); CHECK(float(p.x) == 2 && float(p.y) == 5);
         CHECK(sizeof(half2) == 4 && alignof(half2) == 4);",
    );
}

#[test]
fn bfloat_numbers_round_to_nearest_even() {
    expect_checks(
        "#include <cuda_bf16.h>",
        "CHECK(__bfloat16_as_ushort(__float2bfloat16(1.0f)) == 0x3f80);
         CHECK(__bfloat16_as_ushort(__float2bfloat16(0x1.01p0f)) == 0x3f80 && __bfloat16_as_ushort(__float2bfloat16(0x1.03p0f)) == 0x3f82);
         CHECK(__bfloat16_as_ushort(__double2bfloat16(0x1.0100000001p0)) == 0x3f81);
         CHECK(__hisnan(__float2bfloat16(__builtin_nanf(\"\"))) && __hisinf(__float2bfloat16(3.4e38f)) == 1);
         __nv_bfloat16 a = 1.5f; a *= a; CHECK(float(a) == 2.25f);",
    );
}

#[test]
fn numbers_of_eight_bits_round_to_nearest_even_and_saturate() {
    expect_checks(
        "#include <cuda_fp8.h>",
        "auto bits = [](double v) { return (int)__nv_fp8_e4m3(v).__x; };
         CHECK(bits(1.0) == 0x38 && bits(-1.0) == 0xb8 && bits(448.0) == 0x7e && bits(464.0) == 0x7e && bits(1e9) == 0x7e && bits(-0.0) == 0x80);
         CHECK(bits(1.0625) == 0x38 && bits(1.1875) == 0x3a && bits(1.9375) == 0x40 && bits(0x1p-9) == 1 && bits(0x1p-10) == 0 && bits(0x1.8p-10) == 1);
         CHECK(bits(0x1.fp-7) == 8 && (bits(NAN) & 0x7f) == 0x7f && bits(INFINITY) == 0x7e);
         CHECK(__nv_cvt_float_to_fp8(465.0f, __NV_NOSAT, __NV_E4M3) == 0x7f && __nv_cvt_float_to_fp8(464.0f, __NV_NOSAT, __NV_E4M3) == 0x7e);
         CHECK(__nv_cvt_float_to_fp8(61440.0f, __NV_NOSAT, __NV_E5M2) == 0x7c && __nv_cvt_float_to_fp8(61439.0f, __NV_NOSAT, __NV_E5M2) == 0x7b);
         CHECK(__nv_cvt_float_to_fp8(-1e9f, __NV_SATFINITE, __NV_E5M2) == 0xfb && __nv_fp8_e5m2(1.5f).__x == 0x3e && __nv_fp8_e5m2(0x1p-16f).__x == 1);
         for (int i = 0; i < 256; i++) {
             __nv_fp8_e4m3 a; a.__x = (unsigned char)i; __nv_fp8_e5m2 b; b.__x = (unsigned char)i;
             float f = float(a), g = float(b);
             CHECK(f != f ? (i & 0x7f) == 0x7f : __nv_fp8_e4m3(f).__x == i);
             CHECK(g != g ? (i & 0x7f) > 0x7c : __nv_cvt_float_to_fp8(g, __NV_NOSAT, __NV_E5M2) == i);
             if (f == f) CHECK(__half2float(__half(__nv_cvt_fp8_to_halfraw(a.__x, __NV_E4M3))) == f);
         }
         CHECK(int(__nv_fp8_e4m3(-3.5f)) == -3 && float(__nv_fp8_e4m3(__float2half(2.0f))) == 2 && sizeof(__nv_fp8_e4m3) == 1);
         __nv_fp8x4_e4m3 four(make_float4(1, 2, 3, -4)); CHECK(sizeof(four) == 4 && float4(four).w == -4 && (four.__x & 0xff) == 0x38);
         __nv_fp8x2_e5m2 two(make_float2(8, 0.5f)); CHECK(sizeof(two) == 2 && float2(two).x == 8 && float2(two).y == 0.5f);",
    );
}

#[test]
fn what_nvcc_includes_need_not_be_included() {
    expect_checks(
        "",
        "CHECK(INT_MAX == 2147483647 && UINT_MAX == ~0u && strlen(\"abc\") == 3 && sizeof(size_t) == 8 && abs(-3) == 3);",
    );
}

#[test]
fn the_hosts_standard_headers_and_cudas_qualifiers_go_together() {
    let headers = [
        "algorithm",
        "array",
        "atomic",
        "chrono",
        "cmath",
        "complex",
        "functional",
        "future",
        "iostream",
        "limits",
        "map",
        "memory",
        "mutex",
        "numeric",
        "optional",
        "random",
        "regex",
        "set",
        "sstream",
        "string",
        "thread",
        "tuple",
        "type_traits",
        "unordered_map",
        "utility",
        "variant",
        "vector",
    ];
    let included: String = headers.map(|header| format!("#include <{header}>\n")).concat();
    expect_checks(
        &format!(
            "{included}
             __noinline__ __device__ int one(int x) {{ return x + 1; }}
             __device__ __attribute__((noinline)) int two(int x) {{ return x + 2; }}
             __attribute__((__noinline__)) int three(int x) {{ return x + 3; }}
             template <class T> struct Holder {{ __noinline__ __device__ T get(T x) const {{ return x; }} }};"
        ),
        "CHECK(one(1) == 2 && two(1) == 3 && three(1) == 4 && Holder<int>().get(5) == 5 && *std::make_unique<int>(3) == 3);",
    );
}

#[test]
fn cuda_std_is_the_hosts_standard_library() {
    expect_checks(
        "#include <cuda/std/limits>\n#include <cuda/std/type_traits>\n#include <cuda/std/cstdint>",
        "CHECK(cuda::std::numeric_limits<int>::max() == 2147483647 && sizeof(cuda::std::uint32_t) == 4);
         static_assert(cuda::std::is_same<int, cuda::std::remove_cv_t<const int>>::value);",
    );
}

#[test]
fn a_source_may_define_functions_that_old_gpus_lack() {
    expect_checks(
        "#include <cuda_fp16.h>
         #if __CUDA_ARCH__ < 600
         __device__ double atomicAdd(double *p, double v) { double old = *p; *p = old + 2 * v; return old; }
         __device__ __half atomicAdd(__half *p, __half v) { __half old = *p; *p = old + v + v; return old; }
         __device__ __forceinline__ __half __hmax_nan(__half a, __half b) { return b; }
         #endif",
        "double d = 1; atomicAdd(&d, 1.0); CHECK(d == 3); __half h = 1.0f; atomicAdd(&h, __half(1.0f)); CHECK(float(h) == 3);
         CHECK(float(__hmax_nan(__half(2.0f), __half(1.0f))) == 1 && float(__hmin_nan(__half(2.0f), __half(1.0f))) == 1);",
    );
    expect_checks(
        "#include <cuda_fp16.h>",
        "double d = 1; CHECK(atomicAdd(&d, 1) == 1 && d == 2); __half h = 1.0f; atomicAdd(&h, __half(1.0f)); CHECK(float(h) == 2);
         CHECK(__hisnan(__hmax_nan(__half(2.0f), __ushort_as_half(0x7e00))) && float(__hmax_nan(__half(2.0f), __half(1.0f))) == 2);",
    );
}

#[test]
fn integer_functions_match_their_definitions() {
    expect_checks(
        "",
        "CHECK(__popc(0xf0f0) == 8 && __popcll(~0ull) == 64 && __clz(1) == 31 && __clz(0) == 32 && __clzll(1) == 63);
         CHECK(__ffs(8) == 4 && __ffs(0) == 0 && __brev(1) == 0x80000000u && __brevll(1) == 1ull << 63);
         CHECK(__umulhi(0x80000000u, 6) == 3 && __mulhi(-1, 1) == -1 && __umul64hi(1ull << 63, 6) == 3);
         CHECK(__byte_perm(0x33221100, 0x77665544, 0x7410) == 0x77441100);
         CHECK(__funnelshift_l(0x80000000u, 1, 1) == 3 && __funnelshift_r(2, 1, 1) == 0x80000001u);
         CHECK(__dp4a(0x01020304, 0x01010101, 5) == 15 && __float_as_int(1.0f) == 0x3f800000);
         CHECK(__float2int_rn(2.5f) == 2 && __float2int_rz(-2.5f) == -2 && __float2int_ru(2.1f) == 3 && __float2int_rn(1e20f) == 2147483647);
         CHECK(min(3, 5) == 3 && max(2.0f, 1) == 2.0f && min(1u, 2u) == 1u && max(-1, 3ll) == 3);",
    );
}

#[test]
fn mathematical_functions_exist() {
    expect_checks(
        "#include <math_constants.h>",
        "CHECK(rsqrtf(4.0f) == 0.5f && sinpif(0.5f) == 1.0f && cospi(1.0) == -1.0 && sinpi(1.0) == 0.0 && cospif(0.5f) == 0.0f);
         CHECK(__expf(0.0f) == 1.0f && __fdividef(6.0f, 3.0f) == 2.0f && __powf(2.0f, 3.0f) == 8.0f && __log2f(8.0f) == 3.0f);
         CHECK(fminf(1, 2) == 1 && fmaf(2, 3, 4) == 10 && normcdff(0) == 0.5f && exp10f(2) > 99.9f && __saturatef(3) == 1);
         CHECK(isnan(CUDART_NAN_F) && isinf(CUDART_INF) && fabsf(CUDART_PI_F - acosf(-1.0f)) < 1e-6f);
         float s, c; sincosf(0, &s, &c); CHECK(s == 0 && c == 1); __sincosf(0, &s, &c); CHECK(c == 1);
         CHECK(__fmaf_rn(2, 3, 4) == 10 && __frcp_rn(4) == 0.25f && __fsqrt_rn(9) == 3 && fabs(cospi(0.25) - sqrt(0.5)) < 1e-15);",
    );
}

#[test]
fn atomics_return_old_values_and_lose_no_update() {
    let text = "
        __global__ void count(unsigned *u, float *f, double *d, unsigned long long *l, int *i) {
            atomicAdd(u, 1u); atomicAdd(f, 1.0f); atomicAdd(d, 0.5); atomicAdd(l, 3ull);
            atomicMax(i, int(blockIdx.x * blockDim.x + threadIdx.x)); atomicMin(i + 1, -int(threadIdx.x));
            atomicInc(u + 1, 6); atomicSub(u + 2, 1u); atomicXor(u + 3, 1u << threadIdx.x % 32); atomicAdd_system(u + 4, 1);
            unsigned seen = u[5], assumed;
            do { assumed = seen; seen = atomicCAS(u + 5, assumed, assumed + 2); } while (seen != assumed);
        }";
    let (mut u, mut f, mut d, mut l, mut i) = ([0u32; 6], [0f32], [0f64], [0u64], [0i32; 2]);
    let arguments = [
        address(&mut u),
        address(&mut f),
        address(&mut d),
        address(&mut l),
        address(&mut i),
    ];
    launch(&pool(2), kernel(text, "count"), &line(64, 128), &arguments).expect("no fault");
    assert_eq!(u, [8192, 8192 % 7, 8192u32.wrapping_neg(), 0, 8192, 16384]);
    assert_eq!((f, d, l, i), ([8192.0], [4096.0], [24576], [8191, -127]));
}

#[test]
fn structures_pass_by_value_and_arguments_have_all_widths() {
    let text = "
        struct Params { float scale; long count; unsigned char tag; };
        __global__ void widths(double *out, Params p, bool flag, short s, unsigned char c, unsigned long long l) {
            out[0] = p.scale + p.count + p.tag; out[1] = flag; out[2] = s; out[3] = c; out[4] = double(l);
            p.count++; s++;
        }";
    #[repr(C)]
    struct Params {
        scale: f32,
        count: i64,
        tag: u8,
    }
    let kernel = kernel(text, "widths");
    assert_eq!(kernel.param_sizes(), [8, 24, 1, 2, 1, 8]);
    let mut out = [0f64; 5];
    let (pointer, params) = (
        out.as_mut_ptr(),
        Params {
            scale: 0.5,
            count: 10,
            tag: 3,
        },
    );
    let (flag, s, c, l) = (true, -7i16, 200u8, 1u64 << 40);
    let arguments: [*const c_void; 6] = [
        std::ptr::from_ref(&pointer).cast(),
        std::ptr::from_ref(&params).cast(),
        std::ptr::from_ref(&flag).cast(),
        std::ptr::from_ref(&s).cast(),
        std::ptr::from_ref(&c).cast(),
        std::ptr::from_ref(&l).cast(),
    ];
    // SAFETY: the arguments have their parameters' types.
    unsafe { pool(1).launch(kernel, &line(1, 2), &arguments) }.expect("no fault");
    assert_eq!(out, [13.5, 1.0, -7.0, 200.0, (1u64 << 40) as f64]);
}

#[test]
fn name_expressions_select_instantiations_and_namespaces() {
    let text = "
        namespace ns { template <class T, int N> __global__ void put(T *out) { out[0] = T(N); } }
        extern \"C\" __global__ void __launch_bounds__(32) plain(int *out) { out[0] = 1; }
        static __global__ void hidden(int *out) { out[0] = 2; }";
    let module = build(text, &["ns::put<float, 4>", "ns::put<int, 5>", "plain", "hidden"]).expect("it compiles");
    let mut out = [0u32];
    for (name, value) in [
        ("ns::put<float, 4>", 4f32.to_bits()),
        ("ns::put<int, 5>", 5),
        ("plain", 1),
        ("hidden", 2),
    ] {
        let kernel = module.kernel(name).expect("the kernel is exported");
        launch(&pool(1), kernel, &line(1, 1), &[address(&mut out)]).expect("no fault");
        assert_eq!(out[0], value, "{name}");
    }
    assert_eq!(module.kernels().count(), 4);
}

#[test]
fn shared_memory_is_aligned_whatever_the_position_of_alignas() {
    expect_checks(
        "",
        "__shared__ alignas(64) float a[3]; alignas(64) static __shared__ float b[3]; __shared__ volatile alignas(64) float c[3];
         __shared__ __align__(64) float d[3]; __shared__ float __align__(64) e[3]; extern __shared__ alignas(alignof(float4)) char f[];
         CHECK((size_t)a % 64 == 0 && (size_t)b % 64 == 0 && (size_t)c % 64 == 0 && (size_t)d % 64 == 0 && (size_t)e % 64 == 0);
         CHECK((size_t)f % 16 == 0);",
    );
}

#[test]
fn each_loaded_library_has_its_own_shared_memory() {
    for number in 0..24 {
        let text = format!(
            "template <int N> __global__ void put(int *out) {{ __shared__ int tile[N]; tile[threadIdx.x] = {number};
             __syncthreads(); out[threadIdx.x] = tile[N - 1 - threadIdx.x]; }}"
        );
        let mut out = [-1; 512];
        launch(&pool(1), kernel(&text, "put<512>"), &line(1, 512), &[address(&mut out)]).expect("no fault");
        assert_eq!(out, [number; 512]);
    }
}

#[test]
fn cooperative_groups_of_a_block_work() {
    let text = "
        #include <cooperative_groups.h>
        #include <cooperative_groups/reduce.h>
        namespace cg = cooperative_groups;
        __global__ void groups(int *out) {
            cg::thread_block block = cg::this_thread_block();
            auto tile = cg::tiled_partition<8>(block);
            int sum = cg::reduce(tile, int(block.thread_rank()), cg::plus<int>());
            __shared__ int sums[8];
            if (tile.thread_rank() == 0) sums[tile.meta_group_rank()] = sum;
            block.sync();
            if (block.thread_rank() % 3 == 0) {
                auto active = cg::coalesced_threads();
                if (active.thread_rank() == 0) atomicAdd(out + 8, int(active.size()));
            }
            if (block.thread_rank() < 8) out[block.thread_rank()] = sums[block.thread_rank()];
        }";
    let mut out = [0; 9];
    launch(&pool(1), kernel(text, "groups"), &line(1, 64), &[address(&mut out)]).expect("no fault");
    assert_eq!(out, [28, 92, 156, 220, 284, 348, 412, 476, 22]);
}

#[test]
fn macros_of_a_source_do_not_affect_the_code_after_it() {
    let text = "#define threads 256\n#define count 3\n#define sizes 4\n#define kernels 5\n#define module 6\n#define name 7\n\
        #define text 8\n#define id 9\n#define fast 1\n#define static\n#define const\n#define extern\n\
        __global__ void k(int *x) { x[0] = threads + count; }\n";
    let mut out = [0];
    launch(&pool(1), kernel(text, "k"), &line(1, 1), &[address(&mut out)]).expect("no fault");
    assert_eq!(out, [259]);
}

#[test]
fn wide_values_are_shuffled_whole() {
    let text = "struct Wide { double a; int b; double c, d; };\n\
        __global__ void k(double *x) {\n\
            Wide w = {double(threadIdx.x), int(threadIdx.x), 2, 3}; w = __shfl_xor_sync(~0u, w, 1);\n\
            float4 v = make_float4(threadIdx.x, 1, 2, threadIdx.x); v = __shfl_down_sync(~0u, v, 2);\n\
            x[threadIdx.x] = w.a + w.b * 100 + w.c + w.d + v.x * 1000 + v.w * 1e6;\n\
        }\n";
    let mut out = [0.0_f64; 32];
    launch(&pool(1), kernel(text, "k"), &line(1, 32), &[address(&mut out)]).expect("no fault");
    assert_eq!(out[4], 5.0 + 500.0 + 5.0 + 6000.0 + 6e6);
}
