/* `__nv_bfloat16` and `__nv_bfloat162`. */
#pragma once
#include "gpubench/cuda.h"
#include "gpubench/half_conversions.h"

GB_SHORT_FLOAT(__nv_bfloat16, __nv_bfloat16_raw, gb_bfloat_to_float, gb_bfloat_from_float, gb_bfloat_from_double)
GB_SHORT_FUNCTIONS(__nv_bfloat16, __nv_bfloat16_raw)
GB_SHORT_PAIR(__nv_bfloat162, __nv_bfloat16)
GB_SHORT_CONVERSIONS(__nv_bfloat162, __nv_bfloat16, __nv_bfloat16_raw, bfloat16)
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;
