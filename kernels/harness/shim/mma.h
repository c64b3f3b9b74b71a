/* `nvcuda::wmma`: matrices that the lanes of a warp hold and multiply together, in the shapes and
 * types of tensor cores. Which lane holds which element of an accumulator is as on GPUs. */
#pragma once
#include "cuda_bf16.h"
#include "cuda_fp16.h"

namespace nvcuda {
namespace wmma {

struct row_major;
struct col_major;
struct matrix_a;
struct matrix_b;
struct accumulator;
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32;
}

template <class T>
struct gb_stored {
  using type = T;
};
template <>
struct gb_stored<precision::tf32> {
  using type = float;
};

template <class T, class... Others>
constexpr bool gb_is_any = (std::is_same<T, Others>::value || ...);

template <class Use, int gb_m, int gb_n, int gb_k, class T>
constexpr bool gb_exists() {
  const bool sums = gb_is_any<Use, accumulator>;
  if (gb_m * gb_n == 256 && (gb_m == 8 || gb_m == 16 || gb_m == 32) && gb_k == 16)
    return sums ? gb_is_any<T, float, __half, int> : gb_is_any<T, __half, __nv_bfloat16, signed char, unsigned char>;
  if (gb_m == 16 && gb_n == 16 && gb_k == 8) return sums ? gb_is_any<T, float> : gb_is_any<T, precision::tf32>;
  return gb_m == 8 && gb_n == 8 && gb_k == 4 && gb_is_any<T, double>;
}

template <class Use, int gb_m, int gb_n, int gb_k, class T, class Layout = void>
class fragment {
  static_assert(gb_exists<Use, gb_m, gb_n, gb_k, T>(), "tensor cores have no fragments of this shape and type");
  static constexpr bool gb_sums = gb_is_any<Use, accumulator>;
  static_assert(gb_sums == gb_is_any<Layout, void>, "an operand has a layout, and an accumulator has none");

 public:
  using gb_use = Use;
  using element_type = T;
  using storage_element_type = typename gb_stored<T>::type;
  static constexpr int gb_rows = gb_is_any<Use, matrix_b> ? gb_k : gb_m;
  static constexpr int gb_columns = gb_is_any<Use, matrix_a> ? gb_k : gb_n;
  static constexpr int gb_own = gb_rows * gb_columns / 32;
  /* Operands of `half` have 16 elements in every shape. Those after the first `gb_own` repeat
   * them. */
  static constexpr int num_elements = !gb_sums && gb_is_any<T, __half> ? 16 : gb_own;
  static constexpr int num_storage_elements = num_elements;
  storage_element_type x[num_elements];
};

/* Where element `i` of this lane is in the matrix: each lane has two neighbours of each tile of 8
 * by 8, and tiles follow each other along the first dimension. An accumulator of 8 by 32 is the
 * transpose of one of 32 by 8. */
struct gb_place {
  unsigned int row, column;
};
template <class F>
static inline gb_place gb_place_of(int i) {
  if (F::gb_own == 1) return {gb_lane() / F::gb_columns, gb_lane() % F::gb_columns};
  constexpr bool turned = gb_is_any<typename F::gb_use, accumulator> && F::gb_columns == 32;
  constexpr int tiles = turned ? F::gb_columns / 8 : F::gb_rows < 8 ? 1 : F::gb_rows / 8;
  const unsigned int along = unsigned(i / 2 % tiles * 8) + gb_lane() / 4;
  const unsigned int across = unsigned(i / 2 / tiles * 8 + i % 2) + gb_lane() % 4 * 2;
  return turned ? gb_place{across, along} : gb_place{along, across};
}

static inline size_t gb_offset(gb_place at, size_t stride, layout_t layout) {
  return layout == mem_row_major ? at.row * stride + at.column : at.column * stride + at.row;
}

/* A warp that lacks lanes holds no matrix. */
static inline void gb_await_warp(uint32_t gb_line) {
  const uint64_t answer = gb_wait_for(GB_WAIT_BALLOT, gb_line, ~0u, 0, 1);
  if (unsigned(answer >> 32) != ~0u) gb_stop_here(GB_STOP_TRAP, gb_line);
}

/* Kernels have many calls. Inlined, they would take a compiler minutes. */
template <class F, class P>
static __attribute__((noinline)) void gb_load(F &f, const P *from, unsigned int stride, layout_t layout, uint32_t gb_line) {
  gb_await_warp(gb_line);
  for (int i = 0; i < F::num_elements; i++) {
    f.x[i] = from[gb_offset(gb_place_of<F>(i % F::gb_own), stride, layout)];
  }
}
template <class Use, int gb_m, int gb_n, int gb_k, class T>
static inline void load_matrix_sync(fragment<Use, gb_m, gb_n, gb_k, T, row_major> &f,
                                    const typename gb_stored<T>::type *from, unsigned int stride, GB_LINE) {
  gb_load(f, from, stride, mem_row_major, gb_line);
}
template <class Use, int gb_m, int gb_n, int gb_k, class T>
static inline void load_matrix_sync(fragment<Use, gb_m, gb_n, gb_k, T, col_major> &f,
                                    const typename gb_stored<T>::type *from, unsigned int stride, GB_LINE) {
  gb_load(f, from, stride, mem_col_major, gb_line);
}
template <int gb_m, int gb_n, int gb_k, class T>
static inline void load_matrix_sync(fragment<accumulator, gb_m, gb_n, gb_k, T> &f, const T *from, unsigned int stride,
                                    layout_t layout, GB_LINE) {
  gb_load(f, from, stride, layout, gb_line);
}

template <int gb_m, int gb_n, int gb_k, class T>
static __attribute__((noinline)) void store_matrix_sync(T *to, const fragment<accumulator, gb_m, gb_n, gb_k, T> &f,
                                                        unsigned int stride, layout_t layout, GB_LINE) {
  using F = fragment<accumulator, gb_m, gb_n, gb_k, T>;
  gb_await_warp(gb_line);
  for (int i = 0; i < F::num_elements; i++) {
    to[gb_offset(gb_place_of<F>(i), stride, layout)] = f.x[i];
  }
}

template <class Use, int gb_m, int gb_n, int gb_k, class T, class Layout>
static inline void fill_fragment(fragment<Use, gb_m, gb_n, gb_k, T, Layout> &f, typename gb_stored<T>::type value) {
  for (auto &x : f.x) x = value;
}

/* To 10 bits after the point; ties go away from zero. */
static inline float __float_to_tf32(float v) {
  const unsigned int bits = gb_bits<unsigned int>(v);
  return (bits & 0x7f800000u) == 0x7f800000u ? v : gb_bits<float>((bits + 0x1000u) & ~0x1fffu);
}

/* What a multiplier sees of an element. */
template <class T>
struct gb_factor {
  using type = std::conditional_t<std::is_integral<T>::value, int, std::conditional_t<gb_is_any<T, double>, double, float>>;
  static type of(T v) { return type(v); }
};
template <>
struct gb_factor<precision::tf32> {
  using type = float;
  static float of(float v) { return gb_bits<float>(gb_bits<unsigned int>(v) & ~0x1fffu); }
};

/* Adds the products to `c` in the order of the inner dimension, in `float`, `double` or 64-bit
 * integers, and passes each sum and its number to `keep`. The lanes gather their operands on the
 * stack of lane 0. */
template <class Left, class Right, class Sums, class Keep>
static __attribute__((noinline)) void gb_multiply(const Left &a, const Right &b, const Sums &c, uint32_t gb_line, Keep keep) {
  using Element = gb_factor<typename Left::element_type>;
  using Factor = typename Element::type;
  using Sum = std::conditional_t<gb_is_any<Factor, int>, long long, Factor>;
  constexpr int inner = Left::gb_columns;
  struct Operands {
    Factor rows[Sums::gb_rows][inner], columns[Sums::gb_columns][inner];
  } of_lane;
  gb_await_warp(gb_line);
  auto *all = (Operands *)__shfl_sync(~0u, (uint64_t)&of_lane, 0, 32, gb_line);
  for (int i = 0; i < Left::gb_own; i++) {
    const gb_place at = gb_place_of<Left>(i);
    all->rows[at.row][at.column] = Element::of(a.x[i]);
  }
  for (int i = 0; i < Right::gb_own; i++) {
    const gb_place at = gb_place_of<Right>(i);
    all->columns[at.column][at.row] = Element::of(b.x[i]);
  }
  __syncwarp(~0u, gb_line);
  for (int i = 0; i < Sums::num_elements; i++) {
    const gb_place at = gb_place_of<Sums>(i);
    Sum sum = Sum(c.x[i]);
    for (int along = 0; along < inner; along++) sum += Sum(all->rows[at.row][along]) * Sum(all->columns[at.column][along]);
    keep(i, sum);
  }
  __syncwarp(~0u, gb_line);
}

template <int gb_m, int gb_n, int gb_k, class Sum, class Of, class Rows, class Columns, class Added>
static inline std::enable_if_t<!std::is_integral<Of>::value> mma_sync(
    fragment<accumulator, gb_m, gb_n, gb_k, Sum> &d, const fragment<matrix_a, gb_m, gb_n, gb_k, Of, Rows> &a,
    const fragment<matrix_b, gb_m, gb_n, gb_k, Of, Columns> &b, const fragment<accumulator, gb_m, gb_n, gb_k, Added> &c,
    GB_LINE) {
  static_assert(!gb_is_any<int, Sum, Added>, "the sums of numbers with a point have one, too");
  static_assert(gb_is_any<Of, __half> || !gb_is_any<__half, Sum, Added>, "the sums of other numbers than `half` have 32 bits");
  gb_multiply(a, b, c, gb_line, [&](int i, auto sum) { d.x[i] = Sum(sum); });
}
template <int gb_m, int gb_n, int gb_k, class Of, class Rows, class Columns>
static inline std::enable_if_t<std::is_integral<Of>::value> mma_sync(
    fragment<accumulator, gb_m, gb_n, gb_k, int> &d, const fragment<matrix_a, gb_m, gb_n, gb_k, Of, Rows> &a,
    const fragment<matrix_b, gb_m, gb_n, gb_k, Of, Columns> &b, const fragment<accumulator, gb_m, gb_n, gb_k, int> &c,
    bool saturate = false, GB_LINE) {
  gb_multiply(a, b, c, gb_line, [&](int i, long long sum) {
    if (saturate) sum = sum < INT_MIN ? INT_MIN : sum > INT_MAX ? INT_MAX : sum;
    d.x[i] = int((unsigned int)sum);
  });
}

}  // namespace wmma
}  // namespace nvcuda
