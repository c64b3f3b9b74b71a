// Times y = x + 1 inside CUDA graphs, without this tool, and prints a row for modes_table.py for each
// way and size: ten calls in a graph with a set of tensors each after a flush of the cache, with
// inputs that were copied from the host and with inputs that cudaMemset filled, the first with event
// nodes and a flush node before each call, a single cold call in a stream, 100 calls on one set
// after three untimed ones (hot), in a graph and in a stream, and up to 32 calls with a set each that
// was written anew and then read (hot), in a graph and in a stream.
//
//   nvcc -O2 -arch=native -o graph_calls graph_calls.cu && ./graph_calls 1024 2097152
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                      \
    do {                                                                                 \
        cudaError_t result = (call);                                                     \
        if (result) {                                                                    \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorName(result));                \
            exit(1);                                                                     \
        }                                                                                \
    } while (0)

__global__ void add1(const float *x, float *y, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + 1.0f;
}

__global__ void flush(const float4 *lines, size_t n, float *sink) {
    float sum = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (size_t)blockDim.x)
        sum += lines[i].x;
    if (sum == 1.2345f) *sink = sum;
}

__global__ void hold(volatile int *go) {
    while (!*go) {}
}

struct Set {
    float *x, *y;
};

static cudaStream_t stream;
static float4 *lines;
static size_t line_count;
static float *sink;
static int *go;

static double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

enum Between { NOTHING, EVENTS_AND_FLUSHES };

// Captures a call for each set. Adds the events around each call to `marks`.
static cudaGraphExec_t captured(const std::vector<Set> &calls, size_t n, Between between, std::vector<cudaEvent_t> &marks) {
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (const Set &set : calls) {
        if (between == EVENTS_AND_FLUSHES) {
            flush<<<1056, 512, 0, stream>>>(lines, line_count, sink);
            marks.emplace_back();
            CHECK(cudaEventCreate(&marks.back()));
            CHECK(cudaEventRecordWithFlags(marks.back(), stream, cudaEventRecordExternal));
        }
        add1<<<(n + 255) / 256, 256, 0, stream>>>(set.x, set.y, n);
        if (between == EVENTS_AND_FLUSHES) {
            marks.emplace_back();
            CHECK(cudaEventCreate(&marks.back()));
            CHECK(cudaEventRecordWithFlags(marks.back(), stream, cudaEventRecordExternal));
        }
    }
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    CHECK(cudaGraphUpload(executable, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaGraphDestroy(graph));
    return executable;
}

// Times what `queue` queues, in microseconds, behind a held stream and after what `first` queues.
template <typename First, typename Queue>
static double timed_without_flush(First first, Queue queue) {
    static cudaEvent_t begins, ends;
    if (!begins) {
        CHECK(cudaEventCreate(&begins));
        CHECK(cudaEventCreate(&ends));
    }
    *(volatile int *)go = 0;
    hold<<<1, 1, 0, stream>>>(go);
    first();
    CHECK(cudaEventRecord(begins, stream));
    queue();
    CHECK(cudaEventRecord(ends, stream));
    *(volatile int *)go = 1;
    CHECK(cudaStreamSynchronize(stream));
    float milliseconds;
    CHECK(cudaEventElapsedTime(&milliseconds, begins, ends));
    return milliseconds * 1e3;
}

// The same after a flush of the cache.
template <typename First, typename Queue>
static double timed_after(First first, Queue queue) {
    flush<<<1056, 512, 0, stream>>>(lines, line_count, sink);
    return timed_without_flush(first, queue);
}

template <typename Queue>
static double timed(Queue queue) {
    return timed_after([] {}, queue);
}

static std::vector<Set> allocated(size_t calls, size_t n) {
    std::vector<Set> sets(calls);
    for (Set &set : sets) {
        CHECK(cudaMalloc(&set.x, 4 * n));
        CHECK(cudaMalloc(&set.y, 4 * n));
    }
    return sets;
}

// Calls whose tensors fill at most half of the cache: all inputs in one allocation, all outputs in
// another, and the same again with what they are written from.
struct Row {
    char *x, *y, *other;
    size_t step, calls, bytes;

    Row(size_t n, size_t cache) {
        step = (4 * n + 255) / 256 * 256;
        calls = std::min<size_t>(32, cache / 2 / (2 * step));
        bytes = calls * step;
        if (calls < 8) return;
        std::vector<unsigned> noise(bytes / 4);
        for (unsigned &word : noise) word = 0x3f800000u + (unsigned)(rand() & 0x7fffff);
        for (char **part : {&x, &y, &other}) {
            CHECK(cudaMalloc(part, bytes));
            CHECK(cudaMemcpy(*part, noise.data(), bytes, cudaMemcpyHostToDevice));
        }
    }

    std::vector<Set> sets() const {
        std::vector<Set> sets;
        for (size_t call = 0; call < calls; call++) sets.push_back({(float *)(x + call * step), (float *)(y + call * step)});
        return sets;
    }

    void write_anew() const {
        for (char *part : {x, y}) CHECK(cudaMemcpyAsync(part, other, bytes, cudaMemcpyDeviceToDevice, stream));
    }

    void read() const {
        for (char *part : {x, y}) flush<<<1056, 512, 0, stream>>>((const float4 *)part, bytes / sizeof(float4), sink);
    }
};

static void release(std::vector<Set> &sets) {
    for (Set &set : sets) {
        CHECK(cudaFree(set.x));
        CHECK(cudaFree(set.y));
    }
}

static void row(const char *way, size_t n, double microseconds) {
    printf("graph_calls.cu, %s\t%zu\t%.3f\t0.00\tnothing\n", way, n, microseconds);
    fflush(stdout);
}

int main(int count, char **arguments) {
    cudaDeviceProp device;
    CHECK(cudaGetDeviceProperties(&device, 0));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    size_t bytes = 2 * (size_t)device.l2CacheSize;
    line_count = bytes / sizeof(float4);
    CHECK(cudaMalloc(&lines, bytes));
    CHECK(cudaMemset(lines, 1, bytes));
    CHECK(cudaMalloc(&sink, sizeof(float)));
    CHECK(cudaHostAlloc(&go, sizeof(int), cudaHostAllocMapped));
    for (int argument = 1; argument < count; argument++) {
        size_t n = strtoull(arguments[argument], nullptr, 10);
        // As many calls as this tool puts in a graph by default.
        size_t calls = std::min<size_t>(10, std::max<size_t>(2, ((size_t)1 << 28) / (8 * n)));
        std::vector<Set> sets = allocated(calls, n), filled = allocated(calls, n);
        std::vector<float> ones(n, 1.0f);
        for (Set &set : sets) CHECK(cudaMemcpy(set.x, ones.data(), 4 * n, cudaMemcpyHostToDevice));
        for (Set &set : filled) CHECK(cudaMemset(set.x, 1, 4 * n));
        int repeats = n > 10000000 ? 20 : 100;
        std::vector<cudaEvent_t> none, marks;
        std::vector<double> amortised, of_filled, single, cold, hot_in_graph, hot;
        cudaGraphExec_t rotating = captured(sets, n, NOTHING, none);
        cudaGraphExec_t other = captured(filled, n, NOTHING, none);
        cudaGraphExec_t marked = captured(sets, n, EVENTS_AND_FLUSHES, marks);
        cudaGraphExec_t same = captured(std::vector<Set>(100, sets[0]), n, NOTHING, none);
        for (int repeat = 0; repeat < repeats + 3; repeat++) {
            double graph = timed([&] { CHECK(cudaGraphLaunch(rotating, stream)); });
            double memset = timed([&] { CHECK(cudaGraphLaunch(other, stream)); });
            timed([&] { CHECK(cudaGraphLaunch(marked, stream)); });
            auto queue = [&](int times) {
                for (int time = 0; time < times; time++) add1<<<(n + 255) / 256, 256, 0, stream>>>(sets[0].x, sets[0].y, n);
            };
            double call = timed([&] { queue(1); });
            double in_graph = timed_after([&] { queue(3); }, [&] { CHECK(cudaGraphLaunch(same, stream)); });
            double in_stream = timed_after([&] { queue(3); }, [&] { queue(100); });
            if (repeat < 3) continue;
            amortised.push_back(graph / calls);
            of_filled.push_back(memset / calls);
            cold.push_back(call);
            hot_in_graph.push_back(in_graph / 100);
            hot.push_back(in_stream / 100);
            for (size_t k = 0; k < calls; k++) {
                float milliseconds;
                CHECK(cudaEventElapsedTime(&milliseconds, marks[2 * k], marks[2 * k + 1]));
                single.push_back(milliseconds * 1e3);
            }
        }
        row("graph", n, median(amortised));
        row("graph, inputs filled by cudaMemset", n, median(of_filled));
        row("single calls of a graph", n, median(single));
        row("cold", n, median(cold));
        row("100 hot calls in a graph", n, median(hot_in_graph));
        row("100 hot calls in a stream", n, median(hot));
        Row own(n, device.l2CacheSize);
        if (own.calls >= 8) {
            std::vector<double> in_graph, in_stream;
            std::vector<Set> calls_of_row = own.sets();
            cudaGraphExec_t all = captured(calls_of_row, n, NOTHING, none);
            for (int repeat = 0; repeat < repeats + 3; repeat++) {
                own.write_anew();
                double graph = timed_without_flush([&] { own.read(); }, [&] { CHECK(cudaGraphLaunch(all, stream)); });
                own.write_anew();
                double call = timed_without_flush([&] { own.read(); }, [&] {
                    for (const Set &set : calls_of_row) add1<<<(n + 255) / 256, 256, 0, stream>>>(set.x, set.y, n);
                });
                if (repeat < 3) continue;
                in_graph.push_back(graph / own.calls);
                in_stream.push_back(call / own.calls);
            }
            row("hot calls with their own tensors in a graph", n, median(in_graph));
            row("hot calls with their own tensors in a stream", n, median(in_stream));
            CHECK(cudaGraphExecDestroy(all));
            for (char *part : {own.x, own.y, own.other}) CHECK(cudaFree(part));
        }
        CHECK(cudaGraphExecDestroy(rotating));
        CHECK(cudaGraphExecDestroy(other));
        CHECK(cudaGraphExecDestroy(marked));
        CHECK(cudaGraphExecDestroy(same));
        release(sets);
        release(filled);
    }
}
