#pragma once
#include "weights.cuh"
__device__ float luminance(const float *p) { return RED * p[0] + GREEN * p[1] + BLUE * p[2]; }
