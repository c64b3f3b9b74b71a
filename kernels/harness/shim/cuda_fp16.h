/* `__half` and `__half2`. */
#pragma once
#include "gpubench/cuda.h"
#include "gpubench/half_conversions.h"

GB_SHORT_FLOAT(__half, __half_raw, gb_half_to_float, gb_half_from_float, gb_half_from_double)
GB_SHORT_FUNCTIONS(__half, __half_raw)
GB_SHORT_PAIR(__half2, __half)
GB_SHORT_CONVERSIONS(__half2, __half, __half_raw, half)
using half = __half;
using half2 = __half2;
using nv_half = __half;
using nv_half2 = __half2;
