// Times the functions of kernels/hosted-examples/solution in a process of their own, by its wall
// clock, without this tool. The cache is flushed before each call.
//
//   cd kernels/hosted-examples/solution/solutions
//   for file in vector_addition dot_product; do
//       nvcc -O2 -arch=native -Dsolution=solution_$file -c -o $file.o $file.cu
//   done
//   nvcc -O2 -std=c++17 -arch=native -o bare ../../../../measurements/submissions/bare.cu *.o
//   ./bare
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>
#include <cuda_runtime.h>
extern "C" void solution_vector_addition(const float *, const float *, float *, size_t);
extern "C" void solution_dot_product(const float *, const float *, float *, size_t);
static double median(std::vector<double> v) { std::sort(v.begin(), v.end()); return v[v.size() / 2]; }
int main() {
    const size_t most = 1 << 24, flush = 256 << 20;
    float *a, *b, *c; char *f;
    cudaMalloc(&a, most * 4); cudaMalloc(&b, most * 4); cudaMalloc(&c, most * 4); cudaMalloc(&f, flush);
    cudaMemset(a, 1, most * 4); cudaMemset(b, 2, most * 4);
    auto wall = [&](auto call) {
        std::vector<double> us;
        for (int i = 0; i < 60; i++) {
            cudaMemset(f, i, flush); cudaDeviceSynchronize();
            auto from = std::chrono::steady_clock::now();
            call();
            us.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - from).count());
        }
        return median({us.begin() + 10, us.end()});
    };
    printf("bare empty (synchronize only): %.2f us\n", wall([] { cudaDeviceSynchronize(); }));
    for (size_t n : {size_t(1) << 20, most}) {
        printf("bare vector_addition n=%zu: %.2f us\n", n, wall([&] { solution_vector_addition(a, b, c, n); }));
        printf("bare dot_product n=%zu: %.2f us\n", n, wall([&] { solution_dot_product(a, b, c, n); }));
    }
    printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
