//! Arithmetic functions, compared with slow definitions.

use super::*;

/// A definition for one part of the words: of the parts, and of the smallest and the largest value.
type OfParts = fn(i64, i64, (i64, i64)) -> i64;

/// Functions of parts that are signed, or that do not depend on it. Their names lack the number of
/// parts.
const SIGNED: &[(&str, OfParts)] = &[
    ("__vabs", |a, _, _| a.abs()),
    ("__vabsss", |a, _, (_, high)| a.abs().min(high)),
    ("__vneg", |a, _, _| -a),
    ("__vnegss", |a, _, (_, high)| (-a).min(high)),
    ("__vadd", |a, b, _| a + b),
    ("__vaddss", |a, b, (low, high)| (a + b).clamp(low, high)),
    ("__vsub", |a, b, _| a - b),
    ("__vsubss", |a, b, (low, high)| (a - b).clamp(low, high)),
    ("__vabsdiffs", |a, b, _| (a - b).abs()),
    ("__vavgs", |a, b, _| ((a + b) as f64 / 2.0).round() as i64),
    ("__vmaxs", |a, b, _| a.max(b)),
    ("__vmins", |a, b, _| a.min(b)),
    ("__vcmpeq", |a, b, _| -i64::from(a == b)),
    ("__vcmpne", |a, b, _| -i64::from(a != b)),
    ("__vcmpges", |a, b, _| -i64::from(a >= b)),
    ("__vcmpgts", |a, b, _| -i64::from(a > b)),
    ("__vcmples", |a, b, _| -i64::from(a <= b)),
    ("__vcmplts", |a, b, _| -i64::from(a < b)),
    ("__vseteq", |a, b, _| i64::from(a == b)),
    ("__vsetne", |a, b, _| i64::from(a != b)),
    ("__vsetges", |a, b, _| i64::from(a >= b)),
    ("__vsetgts", |a, b, _| i64::from(a > b)),
    ("__vsetles", |a, b, _| i64::from(a <= b)),
    ("__vsetlts", |a, b, _| i64::from(a < b)),
];

const UNSIGNED: &[(&str, OfParts)] = &[
    ("__vaddus", |a, b, (_, high)| (a + b).min(high)),
    ("__vsubus", |a, b, _| (a - b).max(0)),
    ("__vabsdiffu", |a, b, _| (a - b).abs()),
    ("__vavgu", |a, b, _| (a + b + 1) / 2),
    ("__vhaddu", |a, b, _| (a + b) / 2),
    ("__vmaxu", |a, b, _| a.max(b)),
    ("__vminu", |a, b, _| a.min(b)),
    ("__vcmpgeu", |a, b, _| -i64::from(a >= b)),
    ("__vcmpgtu", |a, b, _| -i64::from(a > b)),
    ("__vcmpleu", |a, b, _| -i64::from(a <= b)),
    ("__vcmpltu", |a, b, _| -i64::from(a < b)),
    ("__vsetgeu", |a, b, _| i64::from(a >= b)),
    ("__vsetgtu", |a, b, _| i64::from(a > b)),
    ("__vsetleu", |a, b, _| i64::from(a <= b)),
    ("__vsetltu", |a, b, _| i64::from(a < b)),
];

/// Whether the parts of a word are signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Parts {
    Signed,
    Unsigned,
}

/// Returns the parts of a word, from the lowest.
fn parts_of(word: u32, count: u32, parts: Parts) -> Vec<i64> {
    let bits = 32 / count;
    let part = |number: u32| {
        let part = i64::from(word >> (number * bits)) & ((1 << bits) - 1);
        match parts {
            Parts::Signed if part >> (bits - 1) == 1 => part - (1 << bits),
            _ => part,
        }
    };
    (0..count).map(part).collect()
}

fn joined(parts: &[i64]) -> u32 {
    let bits = 32 / parts.len();
    let low = |part: &i64| (*part as u64 & ((1 << bits) - 1)) as u32;
    parts
        .iter()
        .enumerate()
        .map(|(number, part)| low(part) << (number * bits))
        .sum()
}

/// Returns words with all values of the lowest byte, and with the limits of all kinds of parts.
fn words() -> Vec<u32> {
    let limits = [
        0,
        1,
        0x7f,
        0x80,
        0x81,
        0xff,
        0x7fff,
        0x8000,
        0x8001,
        0xffff,
        0x7fff_8000,
        0x8000_7fff,
        u32::MAX,
    ];
    let mixed = (0..256_u32).map(|byte| byte | byte.wrapping_mul(0x9e37_79b9) << 8);
    limits.into_iter().chain(mixed).collect()
}

/// Runs `statements` for all pairs of words `a` and `b`, which put `count` words into `y`. Returns
/// these words for each pair.
fn for_all_pairs(statements: &str, count: usize) -> Vec<((u32, u32), Vec<u32>)> {
    let mut words = words();
    let total = words.len();
    let text = format!(
        "__global__ void k(const unsigned *words, unsigned *out) {{
             const unsigned a = words[blockIdx.x], b = words[threadIdx.x];
             unsigned *y = out + size_t({count}) * (blockIdx.x * blockDim.x + threadIdx.x);
             {statements}
         }}"
    );
    let mut out = vec![0_u32; total * total * count];
    let shape = line(total as u32, total as u32);
    launch(
        &pool(2),
        kernel(&text, "k"),
        &shape,
        &[address(&mut words), address(&mut out)],
    )
    .expect("no fault");
    let pairs = words.iter().flat_map(|a| words.iter().map(move |b| (*a, *b)));
    pairs.zip(out.chunks(count).map(<[u32]>::to_vec)).collect()
}

#[test]
fn functions_of_halfwords_and_bytes_match_their_definitions() {
    let all = [(SIGNED, Parts::Signed), (UNSIGNED, Parts::Unsigned)];
    let functions: Vec<(String, u32, Parts, OfParts)> = all
        .into_iter()
        .flat_map(|(list, parts)| list.iter().map(move |(name, of)| (name, parts, of)))
        .flat_map(|(name, parts, of)| [2, 4].map(|count| (format!("{name}{count}"), count, parts, *of)))
        .collect();
    let has_one_operand =
        |name: &str| name.starts_with("__vneg") || (name.starts_with("__vabs") && !name.contains("diff"));
    let call = |(number, (name, ..)): (usize, &(String, u32, Parts, OfParts))| {
        let operands = if has_one_operand(name) { "a" } else { "a, b" };
        format!("y[{number}] = {name}({operands});\n")
    };
    let calls: String = functions.iter().enumerate().map(call).collect();
    for ((a, b), results) in for_all_pairs(&calls, functions.len()) {
        for ((name, count, parts, of), result) in functions.iter().zip(results) {
            let range = match parts {
                Parts::Signed => (-(1 << (32 / count - 1)), (1 << (32 / count - 1)) - 1),
                Parts::Unsigned => (0, (1 << (32 / count)) - 1),
            };
            let of_parts = parts_of(a, *count, *parts).into_iter().zip(parts_of(b, *count, *parts));
            let expected: Vec<i64> = of_parts.map(|(a, b)| of(a, b, range)).collect();
            assert_eq!(result, joined(&expected), "{name}({a:#x}, {b:#x})");
        }
    }
}

#[test]
fn sums_of_differences_and_of_products_match_their_definitions() {
    let calls = "y[0] = __vsads2(a, b); y[1] = __vsads4(a, b); y[2] = __vsadu2(a, b); y[3] = __vsadu4(a, b);
         y[4] = __dp4a(int(a), int(b), 7); y[5] = __dp4a(a, b, 7u);
         y[6] = __dp2a_lo(int(a), int(b), 7); y[7] = __dp2a_lo(a, b, 7u);
         y[8] = __dp2a_hi(int(a), int(b), 7); y[9] = __dp2a_hi(a, b, 7u);
         const char4 c = *(const char4 *)&a; const uchar4 u = *(const uchar4 *)&b; const ushort2 h = *(const ushort2 *)&a;
         y[10] = __dp4a(c, c, int(b)); y[11] = __dp2a_hi(h, u, b);";
    for ((a, b), results) in for_all_pairs(calls, 12) {
        let parts = |count, parts| parts_of(a, count, parts).into_iter().zip(parts_of(b, count, parts));
        let distance = |count, kind| parts(count, kind).map(|(a, b)| (a - b).abs()).sum::<i64>();
        let products = |kind| parts(4, kind).map(|(a, b)| a * b).sum::<i64>() + 7;
        let mixed = |kind, from: usize| {
            let bytes = parts_of(b, 4, kind);
            let halves = parts_of(a, 2, kind);
            halves.iter().zip(&bytes[from..]).map(|(a, b)| a * b).sum::<i64>() + 7
        };
        let squares: i64 = parts_of(a, 4, Parts::Signed).iter().map(|part| part * part).sum();
        let expected = [
            distance(2, Parts::Signed),
            distance(4, Parts::Signed),
            distance(2, Parts::Unsigned),
            distance(4, Parts::Unsigned),
            products(Parts::Signed),
            products(Parts::Unsigned),
            mixed(Parts::Signed, 0),
            mixed(Parts::Unsigned, 0),
            mixed(Parts::Signed, 2),
            mixed(Parts::Unsigned, 2),
            squares + i64::from(b),
            mixed(Parts::Unsigned, 2) - 7 + i64::from(b),
        ];
        assert_eq!(results, expected.map(|sum| sum as u32), "{a:#x}, {b:#x}");
    }
}

#[test]
fn minima_and_maxima_for_dynamic_programming_match_their_definitions() {
    let calls = "const unsigned c = b ^ 0x80005u; bool p, q; unsigned *to = y;
         #define BOTH(name) *to++ = name##_s32(a, b, c); *to++ = name##_u32(a, b, c); *to++ = name##_s16x2(a, b, c); \\
             *to++ = name##_u16x2(a, b, c); *to++ = name##_s32_relu(a, b, c); *to++ = name##_s16x2_relu(a, b, c);
         BOTH(__vimax3) BOTH(__vimin3) BOTH(__viaddmax) BOTH(__viaddmin)
         *to++ = __vimax_s32_relu(a, b); *to++ = __vimin_s32_relu(a, b); *to++ = __vimax_s16x2_relu(a, b); *to++ = __vimin_s16x2_relu(a, b);
         *to++ = __vibmax_s32(a, b, &p); *to++ = p; *to++ = __vibmin_u32(a, b, &p); *to++ = p;
         *to++ = __vibmax_s16x2(a, b, &p, &q); *to++ = p * 2 + q; *to++ = __vibmin_u16x2(a, b, &p, &q); *to++ = p * 2 + q;";
    for ((a, b), results) in for_all_pairs(calls, 36) {
        let c = b ^ 0x8_0005;
        let by_part = |count, kind, of: &dyn Fn(i64, i64, i64) -> i64| {
            let [a, b, c] = [a, b, c].map(|word| parts_of(word, count, kind));
            let parts: Vec<i64> = (0..count as usize).map(|at| of(a[at], b[at], c[at])).collect();
            joined(&parts)
        };
        let wrapped =
            |count, kind, a: i64, b: i64| parts_of(((a + b) & ((1_i64 << (32 / count)) - 1)) as u32, count, kind)[0];
        type Score<'f> = &'f dyn Fn(u32, Parts, i64, i64, i64) -> i64;
        let six = |of: Score<'_>| {
            let all = [
                (1, Parts::Signed),
                (1, Parts::Unsigned),
                (2, Parts::Signed),
                (2, Parts::Unsigned),
            ];
            let plain = all.map(|(count, kind)| by_part(count, kind, &|a, b, c| of(count, kind, a, b, c)));
            let positive = [1, 2].map(|count| {
                by_part(count, Parts::Signed, &|a, b, c| {
                    of(count, Parts::Signed, a, b, c).max(0)
                })
            });
            [&plain[..], &positive[..]].concat()
        };
        let mut expected = six(&|_, _, a, b, c| a.max(b).max(c));
        expected.extend(six(&|_, _, a, b, c| a.min(b).min(c)));
        expected.extend(six(&|count, kind, a, b, c| wrapped(count, kind, a, b).max(c)));
        expected.extend(six(&|count, kind, a, b, c| wrapped(count, kind, a, b).min(c)));
        for count in [1, 2] {
            expected.push(by_part(count, Parts::Signed, &|a, b, _| a.max(b).max(0)));
            expected.push(by_part(count, Parts::Signed, &|a, b, _| a.min(b).max(0)));
        }
        let is_first = |count, kind, of: &dyn Fn(i64, i64) -> bool| {
            let pairs = parts_of(a, count, kind).into_iter().zip(parts_of(b, count, kind));
            pairs.rev().fold(0, |bits, (a, b)| bits * 2 + u32::from(of(a, b)))
        };
        for (count, largest, least) in [(1, Parts::Signed, Parts::Unsigned), (2, Parts::Signed, Parts::Unsigned)] {
            expected.push(by_part(count, largest, &|a, b, _| a.max(b)));
            expected.push(is_first(count, largest, &|a, b| a >= b));
            expected.push(by_part(count, least, &|a, b, _| a.min(b)));
            expected.push(is_first(count, least, &|a, b| a <= b));
        }
        assert_eq!(results, expected, "{a:#x}, {b:#x}");
    }
}

#[test]
fn set_bits_are_counted_from_a_position() {
    expect_checks(
        "",
        "auto slow = [](unsigned mask, int base, int offset) {
             if (offset == 0) return mask >> base & 1 ? unsigned(base) : ~0u;
             int seen = 0;
             for (int at = base; at >= 0 && at < 32; at += offset > 0 ? 1 : -1)
                 if (mask >> at & 1) if (++seen == (offset > 0 ? offset : -offset)) return unsigned(at);
             return ~0u;
         };
         for (unsigned mask : {0u, 1u, 0x80000000u, 0xf0f0u, 0xffffffffu, 0x12345678u})
             for (int base = 0; base < 32; base++)
                 for (int offset = -33; offset < 34; offset++) CHECK(__fns(mask, base, offset) == slow(mask, base, offset));",
    );
}

#[test]
fn rounding_modes_enclose_the_exact_result() {
    expect_checks(
        "#define NEIGHBOURS(T, name, ...) do { const T down = name##_rd(__VA_ARGS__), up = name##_ru(__VA_ARGS__); \\
             const T cut = name##_rz(__VA_ARGS__), near = name##_rn(__VA_ARGS__); \\
             CHECK(down == exact ? up == exact && near == exact : down < exact && up > exact && std::nextafter(down, T(INFINITY)) == up); \\
             CHECK(cut == (exact < 0 ? up : down)); \\
             CHECK(near == (exact - down < up - exact ? down : up) || exact - down == up - exact); } while (0)",
        "typedef __float128 Exact; unsigned seed = 1;
         auto next = [&] { return seed = seed * 1664525u + 1013904223u; };
         auto number = [&](int spread) { float v = int(next()) * 0x1p-31f; return std::ldexp(v, int(next() >> 8) % (2 * spread + 1) - spread); };
         for (int i = 0; i < 20000; i++) {
             const float a = number(20), b = number(20), c = number(20);
             { const Exact exact = Exact(a) + b; NEIGHBOURS(float, __fadd, a, b); }
             { const Exact exact = Exact(a) - b; NEIGHBOURS(float, __fsub, a, b); }
             { const Exact exact = Exact(a) * b; NEIGHBOURS(float, __fmul, a, b); }
             { const Exact exact = Exact(a) * b + c; NEIGHBOURS(float, __fmaf, a, b, c); NEIGHBOURS(float, __fmaf_ieee, a, b, c); }
             if (b != 0) {
                 { const Exact exact = Exact(a) / b; NEIGHBOURS(float, __fdiv, a, b); }
                 { const Exact exact = Exact(1) / b; NEIGHBOURS(float, __frcp, b); }
             }
             { const float size = fabsf(a); const long double exact = sqrtl(size); NEIGHBOURS(float, __fsqrt, size); }
             const double d = a + c * 0x1p-26, e = b + a * 0x1p-27;
             { const Exact exact = Exact(d) + e; NEIGHBOURS(double, __dadd, d, e); }
             { const Exact exact = Exact(d) - e; NEIGHBOURS(double, __dsub, d, e); }
             { const Exact exact = Exact(d) * e; NEIGHBOURS(double, __dmul, d, e); }
             if (e != 0) { const Exact exact = Exact(d) / e; NEIGHBOURS(double, __ddiv, d, e); }
             { const Exact exact = d; NEIGHBOURS(float, __double2float, d); }
             const long long l = (long long)(next()) << (next() % 33) ^ next();
             { const Exact exact = l; NEIGHBOURS(float, __ll2float, l); NEIGHBOURS(double, __ll2double, l); }
             { const Exact exact = (unsigned long long)l; NEIGHBOURS(float, __ull2float, (unsigned long long)l); NEIGHBOURS(double, __ull2double, (unsigned long long)l); }
             { const Exact exact = int(l); NEIGHBOURS(float, __int2float, int(l)); }
             { const Exact exact = unsigned(l); NEIGHBOURS(float, __uint2float, unsigned(l)); }
         }
         CHECK(__fma_ru(1.0, 1.0, 0x1p-80) == 1 + 0x1p-52 && __fma_rd(1.0, 1.0, 0x1p-80) == 1 && __drcp_rd(3.0) < __drcp_ru(3.0));
         CHECK(std::signbit(__fadd_rd(1.0f, -1.0f)) && !std::signbit(__fadd_ru(1.0f, -1.0f)) && __fadd_rz(3e38f, 3e38f) < INFINITY);
         CHECK(__dsqrt_rd(2.0) < __dsqrt_ru(2.0) && 1.0f / 3.0f == __fdiv_rn(1.0f, 3.0f));
         const float2 pair = __ffma2_ru(make_float2(1, 2), make_float2(1, 2), make_float2(0x1p-40f, 0)); CHECK(pair.x > 1 && pair.y == 4);",
    );
}

#[test]
fn not_a_number_becomes_zero_or_the_highest_bit() {
    expect_checks(
        "#include <cuda_fp16.h>",
        "const float f = nanf(\"\"); const double d = nan(\"\"); const long long lowest = 1ull << 63;
         CHECK(__float2int_rn(f) == 0 && __float2uint_ru(f) == 0 && __float2ll_rz(f) == lowest && __float2ull_rd(f) == 1ull << 63);
         CHECK(__double2int_rn(d) == (int)0x80000000 && __double2uint_rz(d) == 0x80000000u && __double2ll_rn(d) == lowest);
         CHECK(__half2short_rn(__float2half(f)) == 0 && __half2ll_rz(__float2half(f)) == lowest && __half2uchar_rz(__float2half(f)) == 0);
         CHECK(__double2int_rz(-1e10) == (int)0x80000000 && __float2uint_rn(-3.0f) == 0 && __half2char_rz(__half(300)) == 127);",
    );
}

#[test]
fn special_functions_are_accurate() {
    expect_checks(
        "#define NEAR(got, want, ulps) do { const long double g = (got), w = (want); CHECK(fabsl(g - w) <= fabsl(w) * (ulps) * 1.2e-16L); } while (0)",
        "const long double root_pi = 1.77245385090551602729816748334114518L;
         for (double x = -5; x < 100; x += 0.37) if (x < 60) NEAR(erfcx(x), expl((long double)x * x) * erfcl(x), 20);
         NEAR(erfcx(1e10), 1 / (1e10L * root_pi), 4); CHECK(erfcx(INFINITY) == 0 && isinf(erfcx(-30.0)) && isnan(erfcx(NAN)));
         /* An error in the argument grows by the steepness of the inverse. */
         auto steepness = [&](double x, double y) { return 4 + double(fabsl(y) * root_pi * expl((long double)x * x) / fabsl(x)) * 2; };
         for (double x = -5.5; x < 5.5; x += 0.0137) { const double y = erfl(x); NEAR(erfinv(y), x, steepness(x, y)); }
         for (double x = -5; x < 26; x += 0.0137) { const double y = erfcl(x); NEAR(erfcinv(y), x, steepness(x, y)); }
         NEAR(erfinv(1e-300), 1e-300L * root_pi / 2, 4); CHECK(erfinv(0.0) == 0 && isnan(erfinv(1.1)) && isnan(erfcinv(-0.1)));
         CHECK(isinf(erfinv(1.0)) && erfinv(-1.0) < 0 && isinf(erfcinv(0.0)) && erfcinv(2.0) == -INFINITY && erfcinv(5e-324) > 27);
         for (double x = -37; x < 9; x += 0.1) NEAR(normcdf(x), 0.5L * erfcl(-x / sqrtl(2)), 40);
         for (double p = 1e-300; p < 1; p *= 3) { const long double x = normcdfinv(p); NEAR(0.5L * erfcl(-x / sqrtl(2)), p, 4 + 4 * x * x); }
         CHECK(normcdf(-INFINITY) == 0 && normcdf(INFINITY) == 1 && normcdfinv(0.5) == 0 && normcdfinv(0.0) == -INFINITY);
         for (double x = 0.01; x < 700; x *= 1.13) {
             NEAR(cyl_bessel_i0(x), std::cyl_bessel_il(0, x), 60); NEAR(cyl_bessel_i1(-x), -std::cyl_bessel_il(1, x), 60);
         }
         CHECK(cyl_bessel_i0(0.0) == 1 && cyl_bessel_i1f(0.0f) == 0 && isinf(cyl_bessel_i0f(100.0f)) && isnan(cyl_bessel_i1(NAN)));
         CHECK(fabsf(erfinvf(0.5f) - 0.4769363f) < 1e-7f && fabsf(erfcinvf(0.5f) - 0.4769363f) < 1e-7f && fabsf(normcdfinvf(0.975f) - 1.959964f) < 1e-6f);
         CHECK(fabsf(erfcxf(10.0f) - 0.05614099f) < 1e-8f && fabsf(cyl_bessel_i0f(1.0f) - 1.2660659f) < 2e-7f);
         const float f[5] = {1, 2, 3, 4, 5}; const double d[2] = {0x3p600, 0x4p600};
         CHECK(fabsf(normf(5, f) - sqrtf(55)) < 1e-6f && norm(2, d) == 0x5p600 && fabsf(rnormf(2, f) - rsqrtf(5)) < 1e-7f && rnorm4d(1, 1, 1, 1) == 0.5);",
    );
}

#[test]
fn comparisons_of_short_numbers_know_unordered_ones() {
    for (header, name, pair) in [
        ("cuda_fp16.h", "half", "__half2"),
        ("cuda_bf16.h", "bfloat16", "__nv_bfloat162"),
    ] {
        expect_checks(
            &format!("#include <{header}>\nusing Pair = {pair};\n#define MAKE(v) __float2{name}(v)"),
            "const auto one = MAKE(1.0f), two = MAKE(2.0f), none = MAKE(nanf(\"\"));
             CHECK(__heq(one, one) && !__heq(one, none) && __hequ(one, none) && __hne(one, two) && !__hne(one, none) && __hneu(one, none));
             CHECK(__hlt(one, two) && __hltu(none, two) && !__hge(one, none) && __hgeu(one, none) && !__hgtu(one, two));
             const Pair a{one, none}, b{two, two}, c{one, one};
             CHECK(float(__hlt2(a, b).x) == 1 && float(__hlt2(a, b).y) == 0 && __hlt2_mask(a, b) == 0xffffu && __hltu2_mask(a, b) == ~0u);
             CHECK(!__hblt2(a, b) && __hbltu2(a, b) && __hbeq2(c, c) && !__hbne2(a, b) && __hbneu2(a, b) && c == c && c != b);
             CHECK(float(__hisnan2(a).y) == 1 && float(__hmax2(a, b).y) == 2 && __hisnan(__hmax2_nan(a, b).y));
             CHECK(__hisnan(__hfma_relu(one, one, none)) && float(__hfma_relu(one, -one, MAKE(0.0f))) == 0 && float(__hfma2_sat(c, b, b).x) == 1);
             const Pair product = __hcmadd(Pair(one, two), Pair(two, one), Pair(one, one)); CHECK(float(product.x) == 1 && float(product.y) == 6);",
        );
    }
}

#[test]
fn conversions_to_short_numbers_round_as_asked() {
    for (header, name) in [("cuda_fp16.h", "half"), ("cuda_bf16.h", "bfloat16")] {
        expect_checks(
            &format!("#include <{header}>\n#define OF(type, mode, v) float(__##type##2{name}_##mode(v))\n#define BITS(v) __{name}_as_ushort(v)"),
            "unsigned seed = 1; auto next = [&] { return seed = seed * 1664525u + 1013904223u; };
             for (int i = 0; i < 20000; i++) {
                 const float v = std::ldexp(int(next()) * 0x1p-31f, int(next() % 40) - 24);
                 const float down = OF(float, rd, v), up = OF(float, ru, v), near = OF(float, rn, v), cut = OF(float, rz, v);
                 CHECK(down <= v && v <= up && (near == down || near == up) && cut == (v < 0 ? up : down) && (down != up || down == v));
                 CHECK(near == down ? v - down <= up - v : up - v <= v - down);
                 const long long l = (long long)(int(next())) * (1 << next() % 30) >> 16;
                 CHECK(OF(ll, rd, l) <= l && OF(ll, ru, l) >= l && OF(ll, rz, l) == (l < 0 ? OF(ll, ru, l) : OF(ll, rd, l)));
                 CHECK(OF(int, ru, int(l)) >= int(l) && OF(ushort, rd, (unsigned short)l) <= (unsigned short)l);
             }
             CHECK(OF(ll, rn, 1ll << 62) == OF(float, rn, 0x1p62f) && OF(ull, rz, ~0ull) < 0x1p64f && OF(float, rz, 3e38f) < INFINITY);",
        );
    }
}
