typedef float real;
__global__ void from_header(const real *, real *y, const float4 *z);
__global__ void from_header(const real *x, real *y, const float4 *z) {}
