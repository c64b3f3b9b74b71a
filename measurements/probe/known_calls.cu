// Makes a known number of CUDA calls of each kind and prints how many, as the tab-separated rows
// that compare.py reads. `known_calls launches SECONDS` prints times of launches instead.
//
//   nvcc -O2 -std=c++17 -arch=native -o known_calls known_calls.cu && ./known_calls
#include <cooperative_groups.h>
#include <cuda.h>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "check.cuh"

__global__ void empty_kernel() {}
__global__ void add_one(float *x) { x[threadIdx.x] += 1.0f; }
__global__ void together(float *x) {
    cooperative_groups::this_grid().sync();
    x[threadIdx.x] += 1.0f;
}
template <typename T>
__global__ void scale(T *x, T by) {
    x[threadIdx.x] *= by;
}

static const size_t MIB = 1 << 20;

// Launches for a number of seconds. Prints when each batch ended, in nanoseconds of the monotonic
// clock, and how long the host needed for a launch, without the wait for the GPU. A batch fits into
// the driver's queue.
static void time_launches(int seconds) {
    using std::chrono::steady_clock;
    const int BATCH = 256;
    auto until = steady_clock::now() + std::chrono::seconds(seconds);
    while (steady_clock::now() < until) {
        CHECK(cudaDeviceSynchronize());
        auto begin = steady_clock::now();
        for (int launch = 0; launch < BATCH; launch++) empty_kernel<<<1, 1>>>();
        auto end = steady_clock::now();
        std::chrono::duration<double, std::nano> took = end - begin;
        printf("%lld %.1f\n", (long long)end.time_since_epoch().count(), took.count() / BATCH);
    }
}

// What the child of a fork does, before its parent uses the driver.
static void run_child() {
    float *x;
    CHECK(cudaMalloc(&x, 3 * MIB));
    CHECK(cudaMemset(x, 0, 256 * sizeof(float)));
    for (int launch = 0; launch < 11; launch++) add_one<<<1, 256>>>(x);
    CHECK(cudaDeviceSynchronize());
    // It ends with the memory still allocated.
    fflush(stdout);
    _exit(0);
}

int main(int count, char **arguments) {
    if (count > 2 && !strcmp(arguments[1], "launches")) {
        time_launches(atoi(arguments[2]));
        return 0;
    }
    pid_t child = fork();
    if (child == 0) run_child();
    int status;
    waitpid(child, &status, 0);
    if (status != 0) return 1;

    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    float *x, *y;
    CHECK(cudaMalloc(&x, MIB));
    CHECK(cudaMalloc(&y, MIB));
    CHECK(cudaMemset(x, 0, MIB));
    for (int launch = 0; launch < 1000; launch++) add_one<<<1, 256>>>(x);
    for (int launch = 0; launch < 500; launch++) add_one<<<1, 256, 0, stream>>>(x);
    for (int launch = 0; launch < 70; launch++) scale<float><<<1, 256>>>(x, 1.0f);
    for (int launch = 0; launch < 30; launch++) scale<int><<<1, 256>>>((int *)y, 1);

    cudaLaunchConfig_t config = {};
    config.gridDim = 1;
    config.blockDim = 256;
    config.stream = stream;
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributePriority;
    attribute.val.priority = 0;
    config.attrs = &attribute;
    config.numAttrs = 1;
    for (int launch = 0; launch < 200; launch++) CHECK(cudaLaunchKernelEx(&config, add_one, x));
    void *parameters[] = {&x};
    for (int launch = 0; launch < 10; launch++)
        CHECK(cudaLaunchCooperativeKernel((void *)together, dim3(1), dim3(256), parameters, 0, stream));

    cudaGraph_t graph;
    cudaGraphExec_t executable;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int launch = 0; launch < 5; launch++) add_one<<<1, 256, 0, stream>>>(x);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    for (int launch = 0; launch < 40; launch++) CHECK(cudaGraphLaunch(executable, stream));
    CHECK(cudaStreamSynchronize(stream));

    std::vector<char> host(MIB);
    char *pinned;
    CHECK(cudaHostAlloc(&pinned, 2 * MIB, 0));
    for (int copy = 0; copy < 10; copy++) CHECK(cudaMemcpy(x, host.data(), MIB, cudaMemcpyHostToDevice));
    for (int copy = 0; copy < 20; copy++) CHECK(cudaMemcpyAsync(x, pinned, MIB / 2, cudaMemcpyHostToDevice, stream));
    for (int copy = 0; copy < 7; copy++) CHECK(cudaMemcpy(host.data(), y, MIB / 4, cudaMemcpyDeviceToHost));
    for (int copy = 0; copy < 6; copy++) CHECK(cudaMemcpyAsync(y, x, MIB, cudaMemcpyDeviceToDevice, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaFreeHost(pinned));

    void *managed, *ordered;
    CHECK(cudaMallocManaged(&managed, 5 * MIB));
    CHECK(cudaFree(managed));
    CHECK(cudaMallocAsync(&ordered, 6 * MIB, stream));
    CHECK(cudaFreeAsync(ordered, stream));
    CHECK(cudaStreamSynchronize(stream));

    // Allocated in one thread, freed in another; and one that nobody frees.
    float *moved;
    std::thread([&] {
        float *leaked;
        CHECK(cudaMalloc(&moved, 7 * MIB));
        CHECK(cudaMalloc(&leaked, 9 * MIB));
    }).join();
    std::thread([&] { CHECK(cudaFree(moved)); }).join();

    void *impossible;
    for (int attempt = 0; attempt < 4; attempt++)
        if (cudaMalloc(&impossible, (size_t)1 << 50) != cudaErrorMemoryAllocation) return 1;
    cudaGetLastError();
    CHECK(cudaFree(x));
    CHECK(cudaFree(y));
    CHECK(cudaStreamDestroy(stream));

    printf("launches of add_one\t1711\n");
    printf("launches of scale\t100\n");
    printf("launches of together\t10\n");
    printf("launches into a capture\t5\n");
    printf("cooperative launches\t10\n");
    printf("graph launches\t40\n");
    printf("host-to-device copies\t30\n");
    printf("host-to-device bytes\t%zu\n", 20 * MIB);
    printf("device-to-host copies\t7\n");
    printf("device-to-host bytes\t%zu\n", 7 * MIB / 4);
    printf("device-to-device copies\t6\n");
    printf("device-to-device bytes\t%zu\n", 6 * MIB);
    printf("bytes left\t%zu\n", 12 * MIB);
    printf("managed bytes\t%zu\n", 5 * MIB);
    printf("stream-ordered bytes\t%zu\n", 6 * MIB);
    printf("pinned bytes\t%zu\n", 2 * MIB);
    printf("failed allocations\t4\n");
    return 0;
}
