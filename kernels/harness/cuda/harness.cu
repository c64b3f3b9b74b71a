// All kernels of the tool itself, in one translation unit. NVRTC compiles it to PTX, and a host
// compiler compiles it for the CPU device. Arithmetic is the same on both: no fused multiply-adds
// (`--fmad=false`, `-ffp-contract=off`), and of the functions in a mathematical library only those
// that IEEE 754 rounds correctly.
#include "check.cuh"
#include "digest.cuh"
#include "fill.cuh"
#include "flush.cuh"
#include "lines.cuh"
#include "noise.cuh"
#include "stamp.cuh"
#include "twin.cuh"
