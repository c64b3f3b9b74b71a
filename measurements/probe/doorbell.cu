// Prints how often calls of the CUDA driver ring the doorbell of a GPU: a watchpoint on each
// mapping that has the form of a doorbell counts the writes of this process. A row has the writes
// for each call of a kind, mapping by mapping.
//
//   nvcc -O2 -std=c++17 -arch=native -o doorbell doorbell.cu -lcuda && ./doorbell
#include <cuda.h>
#include <cuda_runtime.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "check.cuh"

static const size_t MIB = 1 << 20;
static const unsigned long MAPPING = 0x10000, WORD = 0x90;

__global__ void empty_kernel() {}

static std::vector<int> watchpoints;

// Watches the mappings of a GPU that have the size of a doorbell's. They exist after the first
// launch.
static void watch() {
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    while (fgets(line, sizeof line, maps)) {
        unsigned long from, to;
        const char *name = strstr(line, "/dev/nvidia");
        bool is_gpu = name && name[11] >= '0' && name[11] <= '9';
        if (!is_gpu || sscanf(line, "%lx-%lx", &from, &to) != 2 || to - from != MAPPING) continue;
        perf_event_attr attribute = {};
        attribute.type = PERF_TYPE_BREAKPOINT;
        attribute.size = sizeof attribute;
        attribute.bp_type = HW_BREAKPOINT_W;
        attribute.bp_addr = from + WORD;
        attribute.bp_len = HW_BREAKPOINT_LEN_4;
        attribute.exclude_kernel = 1;
        attribute.exclude_hv = 1;
        int watchpoint = syscall(SYS_perf_event_open, &attribute, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
        if (watchpoint < 0) {
            perror("perf_event_open");
            exit(1);
        }
        watchpoints.push_back(watchpoint);
    }
    fclose(maps);
    if (watchpoints.empty()) {
        fprintf(stderr, "no mapping has the form of a doorbell\n");
        exit(1);
    }
}

static std::vector<long> writes() {
    std::vector<long> counts;
    for (int watchpoint : watchpoints) {
        long count;
        if (read(watchpoint, &count, sizeof count) != sizeof count) exit(1);
        counts.push_back(count);
    }
    return counts;
}

template <typename Call>
static void row(const std::string &what, int times, Call call) {
    call();
    CHECK(cudaDeviceSynchronize());
    std::vector<long> before = writes();
    for (int time = 0; time < times; time++) call();
    std::vector<long> after = writes();
    CHECK(cudaDeviceSynchronize());
    printf("%-44s", what.c_str());
    for (size_t mapping = 0; mapping < after.size(); mapping++)
        printf(" %6.2f", (after[mapping] - before[mapping]) / (double)times);
    printf("\n");
}

int main() {
    cudaStream_t stream, other;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    empty_kernel<<<1, 1>>>();
    empty_kernel<<<1, 1, 0, stream>>>();
    CHECK(cudaDeviceSynchronize());
    watch();

    CUdeviceptr word;
    CHECK(cuMemAlloc(&word, 4096));
    CHECK(cuMemsetD32(word, 7, 1024));
    char *x, *y, *pinned;
    CHECK(cudaMalloc(&x, 64 * MIB));
    CHECK(cudaMalloc(&y, 64 * MIB));
    CHECK(cudaHostAlloc(&pinned, 64 * MIB, 0));
    std::vector<char> pageable(64 * MIB);
    cudaEvent_t event, timeless;
    CHECK(cudaEventCreate(&event));
    CHECK(cudaEventCreateWithFlags(&timeless, cudaEventDisableTiming));

    row("launch", 20, [&] { empty_kernel<<<1, 1, 0, stream>>>(); });
    row("launch, default stream", 20, [&] { empty_kernel<<<1, 1>>>(); });
    row("record of an event", 20, [&] { CHECK(cudaEventRecord(event, stream)); });
    row("record of an event without times", 20, [&] { CHECK(cudaEventRecord(timeless, stream)); });
    row("wait for an event", 20, [&] { CHECK(cudaStreamWaitEvent(other, event, 0)); });
    row("wait for a word", 20, [&] { CHECK(cuStreamWaitValue32(stream, word, 7, CU_STREAM_WAIT_VALUE_EQ)); });
    row("write of a word", 20, [&] { CHECK(cuStreamWriteValue32(stream, word, 7, 0)); });
    row("fill of 4 KiB", 20, [&] { CHECK(cudaMemsetAsync(x, 0, 4096, stream)); });
    row("fill of 64 MiB", 5, [&] { CHECK(cudaMemsetAsync(x, 0, 64 * MIB, stream)); });
    row("fill of two dimensions", 5, [&] { CHECK(cudaMemset2DAsync(x, 4096, 0, 100, 1000, stream)); });
    for (size_t bytes : {(size_t)4096, 64 * MIB}) {
        std::string of = bytes < MIB ? " of 4 KiB" : " of 64 MiB";
        auto copy = [&](void *to, const void *from) { CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream)); };
        row("copy" + of + " from pageable memory", 5, [&] { copy(x, pageable.data()); });
        row("copy" + of + " to pageable memory", 5, [&] { copy(pageable.data(), x); });
        row("copy" + of + " from pinned memory", 5, [&] { copy(x, pinned); });
        row("copy" + of + " within the device", 5, [&] { copy(y, x); });
    }
    row("allocation and free in a stream", 10, [&] {
        void *memory;
        CHECK(cudaMallocAsync(&memory, MIB, stream));
        CHECK(cudaFreeAsync(memory, stream));
    });
    row("allocation and free", 5, [&] {
        void *memory;
        CHECK(cudaMalloc(&memory, MIB));
        CHECK(cudaFree(memory));
    });
    row("function of the host", 5, [&] { CHECK(cudaLaunchHostFunc(stream, [](void *) {}, nullptr)); });
    row("synchronization", 5, [&] { CHECK(cudaStreamSynchronize(stream)); });
    for (int launches : {1, 10, 1000}) {
        cudaGraph_t graph;
        cudaGraphExec_t executable;
        CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
        for (int launch = 0; launch < launches; launch++) empty_kernel<<<1, 1, 0, stream>>>();
        CHECK(cudaStreamEndCapture(stream, &graph));
        CHECK(cudaGraphInstantiate(&executable, graph, 0));
        CHECK(cudaGraphUpload(executable, stream));
        CHECK(cudaStreamSynchronize(stream));
        row("graph of " + std::to_string(launches) + " launches", 5, [&] { CHECK(cudaGraphLaunch(executable, stream)); });
    }
    return 0;
}
