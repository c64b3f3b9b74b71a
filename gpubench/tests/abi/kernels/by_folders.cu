#include "quoted.cuh"
#include <angled.cuh>
#include <stdint.h>

__global__ void count(unsigned *counts) { atomicAdd(counts, STEP); }
