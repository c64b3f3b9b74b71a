/* `assert` for kernels. Including it again with another NDEBUG changes it. */
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
