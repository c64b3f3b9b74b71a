//! Wrong kernels that the problems of `kernels/problems` must reject. Each is the problem's `naive`
//! solution with a mistake, and fails a public or a hidden case.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;

use camino::Utf8PathBuf;
use gpubench_tests::{Fixture, Run, RunFolder, repository};

/// A mistake in the solution of a problem.
struct Wrong {
    problem: &'static str,
    /// What a person would call it, as the name of a file.
    mistake: &'static str,
    right: &'static str,
    wrong: &'static str,
}

const fn wrong(problem: &'static str, mistake: &'static str, right: &'static str, wrong: &'static str) -> Wrong {
    Wrong {
        problem,
        mistake,
        right,
        wrong,
    }
}

/// The mistakes, those of a problem one after another.
const WRONG: &[Wrong] = &[
    wrong("add_one", "leaves_out_the_last", "if (i < n)", "if (i + 1 < n)"),
    wrong("add_one", "first_block_only", "if (i < n)", "if (blockIdx.x == 0)"),
    wrong("attention", "scale_of_another_width", "0.125f", "0.12f"),
    wrong(
        "attention",
        "mask_of_the_future",
        "sum += weights[key];",
        "if (key > blockIdx.x % n) continue; sum += weights[key];",
    ),
    wrong(
        "bf16_product",
        "sum_in_bf16",
        "sum += __bfloat162float(a[row * k + i]) * __bfloat162float(b[i * n + column]);",
        "sum = __bfloat162float(__float2bfloat16(sum + __bfloat162float(a[row * k + i]) * __bfloat162float(b[i * n + column])));",
    ),
    wrong(
        "box_blur",
        "same_divisor_everywhere",
        "((bottom - top + 1) * (right - left + 1))",
        "((2 * radius + 1) * (2 * radius + 1))",
    ),
    wrong("box_blur", "window_without_its_edge", "j <= right", "j < right"),
    wrong(
        "cholesky",
        "upper_triangle_left_alone",
        "l[i * n + j] = 0.0f;",
        "l[i * n + j] = a[i * n + j];",
    ),
    wrong(
        "convolution",
        "flipped_filter",
        "filter[(y + radius) * (2 * radius + 1) + x + radius]",
        "filter[(radius - y) * (2 * radius + 1) + radius - x]",
    ),
    wrong(
        "convolution",
        "wraps_around",
        "if (i < 0 || i >= height || j < 0 || j >= width) continue;",
        "if (i * width + j < 0 || i * width + j >= width * height) continue;",
    ),
    wrong(
        "fp16_product",
        "sum_in_fp16",
        "sum += __half2float(a[row * k + i]) * __half2float(b[i * n + column]);",
        "sum = __half2float(__float2half(sum + __half2float(a[row * k + i]) * __half2float(b[i * n + column])));",
    ),
    wrong(
        "fp8_product",
        "no_sign",
        "return bits & 0x80 ? -magnitude : magnitude;",
        "return magnitude;",
    ),
    wrong(
        "fp8_product",
        "right_side_not_transposed",
        "b[column * k + i]",
        "b[i * n + column]",
    ),
    wrong(
        "gelu",
        "approximation_by_a_sigmoid",
        "0.5f * x * (1.0f + erff(x * 0.70710678f))",
        "x / (1.0f + expf(-1.702f * x))",
    ),
    wrong("gemm_relu", "no_bias", "sum + bias[column]", "sum"),
    wrong(
        "gemm_relu",
        "no_relu",
        "fmaxf(sum + bias[column], 0.0f)",
        "sum + bias[column]",
    ),
    wrong(
        "histogram",
        "least_significant_bit_lost",
        "bins[pixels[i]]",
        "bins[pixels[i] & 254]",
    ),
    wrong(
        "histogram",
        "counts_without_atomics",
        "atomicAdd(&bins[pixels[i]], 1u);",
        "if (i % 1024 != 7) atomicAdd(&bins[pixels[i]], 1u);",
    ),
    wrong(
        "inclusive_scan",
        "exclusive",
        "sum += x[i];\n    y[i] = sum;",
        "y[i] = sum;\n    sum += x[i];",
    ),
    wrong(
        "inclusive_scan",
        "each_piece_for_itself",
        "unsigned int sum = sums[piece];\n  for",
        "unsigned int sum = 0;\n  for",
    ),
    wrong("int4_product", "nibbles_swapped", "i % 2 == 0", "i % 2 == 1"),
    wrong("int4_product", "first_scale_of_a_row", "+ i / 32]", "]"),
    wrong(
        "int8_product",
        "unsigned_bytes",
        "sum += a[row * k + i] * b[column * k + i];",
        "sum += static_cast<unsigned char>(a[row * k + i]) * b[column * k + i];",
    ),
    wrong(
        "int8_row_quantise",
        "truncates",
        "rintf(x[row * columns + i] / step)",
        "truncf(x[row * columns + i] / step)",
    ),
    wrong(
        "int8_row_quantise",
        "forgets_the_sign_of_the_largest",
        "fabsf(x[row * columns + i])",
        "x[row * columns + i]",
    ),
    wrong(
        "layernorm",
        "sample_variance",
        "squares / columns)",
        "squares / (columns - 1))",
    ),
    wrong("layernorm", "no_bias", " + bias[i]", ""),
    wrong(
        "luma",
        "plain_mean",
        "0.2126f * red + 0.7152f * green + 0.0722f * blue",
        "(red + green + blue) / 3.0f",
    ),
    wrong("matmul", "leaves_out_the_last_term", "i < k", "i + 1 < k"),
    wrong(
        "matmul",
        "whole_tiles_only",
        "if (row >= m || column >= n) return;",
        "if (row >= m / 8 * 8 || column >= n / 32 * 32) return;",
    ),
    wrong("matrix_vector", "leaves_out_the_last_term", "i < k", "i + 1 < k"),
    wrong(
        "max_pool_2d",
        "zeros_around_the_image",
        "constexpr float LOWEST = -3.402823466e38f;",
        "constexpr float LOWEST = 0.0f;",
    ),
    wrong(
        "max_pool_2d",
        "no_dilation",
        "2 * row + a * dilation, j = 2 * column + b * dilation",
        "2 * row + a, j = 2 * column + b",
    ),
    wrong(
        "mxfp8_product",
        "one_scale_a_row",
        "a_scale[left / 32]",
        "a_scale[row * k / 32]",
    ),
    wrong(
        "mxfp8_quantise",
        "rounds_ties_up",
        "0x7ffff + (bits >> 20 & 1)",
        "0x80000",
    ),
    wrong("mxfp8_quantise", "no_subnormals", "rintf(magnitude * 512.0f)", "0.0f"),
    wrong(
        "nvfp4_product",
        "no_subnormals",
        "exponent == 0 ? 0.5f * fraction :",
        "exponent == 0 ? 0.0f :",
    ),
    wrong(
        "point_negation",
        "zero_becomes_the_modulus",
        "(p - points[2 * i + 1]) % p",
        "p - points[2 * i + 1]",
    ),
    wrong(
        "polynomial_product",
        "product_of_the_low_bits",
        "(unsigned long long)a[j] * b[i - j]",
        "a[j] * b[i - j]",
    ),
    wrong("polynomial_product", "cyclic", "max(0, i - n + 1)", "max(1, i - n + 1)"),
    wrong(
        "prefix_sum",
        "each_piece_for_itself",
        "float sum = sums[piece];\n  for",
        "float sum = 0.0f;\n  for",
    ),
    wrong(
        "product",
        "product_of_the_low_bits",
        "static_cast<unsigned long long>(a[i]) * b[i] % P",
        "a[i] * b[i] % P",
    ),
    wrong("reduction", "first_block_only", "if (i < n)", "if (blockIdx.x == 0)"),
    wrong("relu", "leaks", "fmaxf(x[i], 0.0f)", "fmaxf(x[i], 0.01f * x[i])"),
    wrong("rms_norm", "no_epsilon", " + 1e-5f", ""),
    wrong("rms_norm", "no_gain", " * gain[i]", ""),
    wrong(
        "row_argmax",
        "last_of_equal_elements",
        "x[i] > x[best]",
        "x[i] >= x[best]",
    ),
    wrong(
        "segmented_scan",
        "segments_run_together",
        "!begins[i]; i++",
        "true; i++",
    ),
    wrong("shortest_paths", "no_way_over_the_last", "over < n", "over + 1 < n"),
    wrong("softmax", "no_sum", " / sum", ""),
    wrong("softmax", "overflows", "x[i] - largest", "x[i]"),
    wrong(
        "sort",
        "least_significant_bits_lost",
        "arguments = [\"keys\", \"places\", \"n\", 0]",
        "arguments = [\"keys\", \"places\", \"n\", 4]",
    ),
    wrong(
        "sparse_dense",
        "leaves_out_the_last_of_a_row",
        "i < row_start[row + 1]",
        "i + 1 < row_start[row + 1]",
    ),
    wrong(
        "spmv",
        "leaves_out_the_last_of_a_row",
        "i < row_start[row + 1]",
        "i + 1 < row_start[row + 1]",
    ),
    wrong(
        "sum_along_dimension",
        "sums_along_another",
        "(i / inner * middle + j) * inner + i % inner",
        "i * middle + j",
    ),
    wrong(
        "top_k",
        "a_column_twice",
        "column > last_column",
        "column != last_column",
    ),
    wrong(
        "transpose",
        "copies",
        "y[column * rows + row]",
        "y[row * columns + column]",
    ),
    wrong(
        "transpose",
        "whole_tiles_only",
        "if (row < rows && column < columns)",
        "if (row < rows / 8 * 8 && column < columns / 32 * 32)",
    ),
    wrong("triplet_margin", "margin_of_one", "+ 4.0f", "+ 1.0f"),
    wrong(
        "triplet_margin",
        "negative_losses",
        "fmaxf(0.0f, sqrtf(near) - sqrtf(far) + 4.0f)",
        "sqrtf(near) - sqrtf(far) + 4.0f",
    ),
    wrong(
        "vector_add",
        "wrong_at_one_size_only",
        "if (i < n)",
        "if (i < n && (n % 2 == 1 || i + 1 < n))",
    ),
];

fn catalogue() -> Utf8PathBuf {
    repository().join("kernels/problems")
}

/// Returns the names of the kernels of a problem that passed all of its cases.
fn passed(problem: &str, mistakes: &[&Wrong]) -> Vec<String> {
    let folder = RunFolder::new();
    let solution = catalogue().join(format!("solutions/{problem}/naive.cu"));
    let solution = std::fs::read_to_string(solution).expect("a solution");
    let files = mistakes.iter().map(|wrong| {
        let count = solution.matches(wrong.right).count();
        assert!(count > 0, "{problem}: no `{}` in its solution", wrong.right);
        let file = folder.path(wrong.mistake).with_extension("cu");
        std::fs::write(&file, solution.replace(wrong.right, wrong.wrong)).expect("a file");
        file
    });
    let files: Vec<Utf8PathBuf> = files.collect();
    let finished = Run::outside_of_workspaces(&catalogue())
        .patiently()
        .args([
            "grade",
            "--problem",
            problem,
            "--test",
            "--leaderboard",
            "--offline",
            "--quiet",
        ])
        .args(["--target-dir", Fixture::target_directory().as_str()])
        .json()
        .args(files.iter().map(|file| file.as_str()))
        .finish();
    let records = finished.records();
    let graded: Vec<_> = records.with_reason("problem-complete").collect();
    assert_eq!(graded.len(), mistakes.len(), "{problem}: {}", finished.stderr);
    let results: Vec<_> = records.results().collect();
    let compiled =
        |result: &&&serde_json::Value| result["cause"] == "compile-failed" || result["cause"] == "submission-invalid";
    assert_eq!(
        results.iter().find(compiled),
        None,
        "{problem}: a mistake that nobody can make"
    );
    let passed = graded.iter().filter(|one| one["verdict"] == "pass");
    passed
        .map(|one| format!("{problem}: {}", one["submission"].as_str().unwrap_or_default()))
        .collect()
}

/// Grades the mistakes of each third problem.
fn no_mistake_passes(first: usize) {
    let mut by_problem: BTreeMap<&str, Vec<&Wrong>> = BTreeMap::new();
    WRONG
        .iter()
        .for_each(|wrong| by_problem.entry(wrong.problem).or_default().push(wrong));
    let problems = by_problem.iter().skip(first).step_by(3);
    let passed: Vec<String> = problems
        .flat_map(|(problem, mistakes)| passed(problem, mistakes))
        .collect();
    assert_eq!(passed, [""; 0], "wrong kernels that passed");
}

#[test]
fn wrong_kernels_of_the_first_third_fail() {
    no_mistake_passes(0);
}

#[test]
fn wrong_kernels_of_the_second_third_fail() {
    no_mistake_passes(1);
}

#[test]
fn wrong_kernels_of_the_last_third_fail() {
    no_mistake_passes(2);
}

#[test]
fn each_problem_has_a_wrong_kernel() {
    let folders = catalogue().join("solutions").read_dir_utf8().expect("a folder");
    for folder in folders {
        let folder = folder.expect("it can be read");
        let problem = folder.file_name();
        assert!(WRONG.iter().any(|wrong| wrong.problem == problem), "{problem}");
    }
}
