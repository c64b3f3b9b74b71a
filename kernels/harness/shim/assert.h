/* `assert` as kernels see it; included again with another NDEBUG, it changes. */
#include "gpubench/cuda.h"
#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) ((condition) ? (void)0 : gb_assert_failed(__LINE__))
#endif
#ifndef __cplusplus
#define static_assert _Static_assert
#endif
