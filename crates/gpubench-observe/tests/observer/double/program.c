/* What the observed programs do, by name. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef uint64_t u64;
typedef unsigned int u32;
#ifdef STATIC_RUNTIME
/* A runtime that is linked statically finds the driver by itself. */
static void *driver(const char *name) {
  static void *library;
  static int (*find)(const char *, void **, int, u64, int *);
  if (!library) {
    library = dlopen("libcuda.so.1", RTLD_NOW);
    find = library ? dlsym(library, "cuGetProcAddress_v2") : 0;
  }
  void *function = 0;
  if (!find || find(name, &function, 12000, 0, 0)) { fprintf(stderr, "no %s: %s\n", name, dlerror()); exit(9); }
  return function;
}
#define FUNCTION(name, ...)                                                                        \
  ({                                                                                               \
    static int (*found)(__VA_ARGS__);                                                              \
    if (!found) found = (int (*)(__VA_ARGS__))driver(#name);                                       \
    found;                                                                                         \
  })
#else
#define FUNCTION(name, ...) ({ extern int name(__VA_ARGS__); name; })
#endif
#define alloc FUNCTION(cuMemAlloc_v2, u64 *, u64)
#define release FUNCTION(cuMemFree_v2, u64)
#define upload FUNCTION(cuMemcpyHtoD_v2, u64, const void *, u64)
#define get_function FUNCTION(cuModuleGetFunction, u64 *, u64, const char *)
#define launch_kernel FUNCTION(cuLaunchKernel, u64, u32, u32, u32, u32, u32, u32, u32, u64, void **, void **)

static u64 module = 0x77;
static u64 kernel(const char *name) { u64 f = 0; if (get_function(&f, module, name)) return 0; return f; }
static void launch(u64 f, u64 stream) { launch_kernel(f, 2, 3, 4, 5, 6, 7, 0, stream, 0, 0); }
static u64 allocated(u64 bytes) { u64 p = 0; alloc(&p, bytes); return p; }
static void run_thread(void *(*work)(void *)) {
  pthread_t thread;
  pthread_create(&thread, 0, work, 0);
  pthread_join(thread, 0);
}

static void memory(void) {
  u64 p, pitch, shared[25] = {0};
  p = allocated(1000); release(p);
  FUNCTION(cuMemAllocPitch_v2, u64 *, u64 *, u64, u64, u32)(&p, &pitch, 100, 20, 4); release(p);
  FUNCTION(cuMemAllocAsync, u64 *, u64, u64)(&p, 2000, 7); FUNCTION(cuMemFreeAsync, u64, u64)(p, 7);
  FUNCTION(cuMemAllocFromPoolAsync, u64 *, u64, u64, u64)(&p, 3000, 5, 7); FUNCTION(cuMemFreeAsync, u64, u64)(p, 7);
  FUNCTION(cuMemAllocManaged, u64 *, u64, u32)(&p, 4000, 1); release(p);
  FUNCTION(cuMemAllocHost_v2, u64 *, u64)(&p, 5000); FUNCTION(cuMemFreeHost, u64)(p);
  FUNCTION(cuMemHostAlloc, u64 *, u64, u32)(&p, 6000, 0); FUNCTION(cuMemFreeHost, u64)(p);
  FUNCTION(cuMemHostRegister_v2, u64, u64, u32)((u64)shared, 100, 0); FUNCTION(cuMemHostUnregister, u64)((u64)shared);
  FUNCTION(cuMemCreate, u64 *, u64, const void *, u64)(&p, 7000, shared, 0);
  FUNCTION(cuMemMap, u64, u64, u64, u64, u64)(0x900000, 7000, 0, p, 0); FUNCTION(cuMemRelease, u64)(p);
  FUNCTION(cuMemUnmap, u64, u64)(0x900000, 7000);
  struct { u64 width, height; u32 format, channels; } two = {10, 20, 0x20, 4};
  FUNCTION(cuArrayCreate_v2, u64 *, const void *)(&p, &two); FUNCTION(cuArrayDestroy, u64)(p);
  struct { u64 width, height, depth; u32 format, channels, flags; } three = {10, 20, 3, 0x10, 1, 0};
  FUNCTION(cuArray3DCreate_v2, u64 *, const void *)(&p, &three); FUNCTION(cuArrayDestroy, u64)(p);
}

/* Memory that is released while it is mapped, then held by a handle of the mapping, as NCCL does; and
 * memory of another process. */
static void map_memory(void) {
  u64 p, held, imported, none = 0;
  FUNCTION(cuMemCreate, u64 *, u64, const void *, u64)(&p, 7000, &none, 0);
  FUNCTION(cuMemMap, u64, u64, u64, u64, u64)(0x900000, 7000, 0, p, 0); FUNCTION(cuMemRelease, u64)(p);
  FUNCTION(cuMemRetainAllocationHandle, u64 *, u64)(&held, 0x900000); FUNCTION(cuMemRelease, u64)(held);
  FUNCTION(cuMemImportFromShareableHandle, u64 *, void *, int)(&imported, &none, 1);
  FUNCTION(cuMemRelease, u64)(imported);
}
/* What a capture allocates and frees is done by the graph. */
static void allocate_in_graph(void) {
  u64 p, graph;
  FUNCTION(cuStreamBeginCapture_v2, u64, int)(7, 0);
  FUNCTION(cuMemAllocAsync, u64 *, u64, u64)(&p, 2000, 7);
  FUNCTION(cuMemFreeAsync, u64, u64)(p, 7);
  FUNCTION(cuMemAllocFromPoolAsync, u64 *, u64, u64, u64)(&p, 3000, 5, 7);
  FUNCTION(cuStreamEndCapture, u64, u64 *)(7, &graph);
  FUNCTION(cuGraphLaunch, u64, u64)(graph, 7);
  FUNCTION(cuMemFreeAsync, u64, u64)(p, 7);
}

#define create_context FUNCTION(cuCtxCreate_v2, u64 *, u32, int)
#define destroy_context FUNCTION(cuCtxDestroy_v2, u64)
#define set_context FUNCTION(cuCtxSetCurrent, u64)
#define retain FUNCTION(cuDevicePrimaryCtxRetain, u64 *, int)
#define give_back FUNCTION(cuDevicePrimaryCtxRelease_v2, int)
static u64 of_main;
static void *thread_allocates_in_context(void *unused) {
  set_context(of_main);
  allocated(20);
  return unused;
}
/* Leaves 1000 bytes in a context and 6000 that belong to none. */
static void contexts(void) {
  u64 first, second, primary, p;
  create_context(&first, 0, 0);
  allocated(1);
  create_context(&second, 0, 0);
  allocated(2);
  of_main = second;
  run_thread(thread_allocates_in_context);
  FUNCTION(cuMemAllocHost_v2, u64 *, u64)(&p, 200);
  FUNCTION(cuMemCreate, u64 *, u64, const void *, u64)(&p, 2000, &p, 0);
  FUNCTION(cuMemAllocAsync, u64 *, u64, u64)(&p, 4000, 7);
  FUNCTION(cuCtxPushCurrent_v2, u64)(first);
  allocated(10);
  FUNCTION(cuCtxPopCurrent_v2, u64 *)(&p);
  destroy_context(first);
  allocated(2);
  destroy_context(second);
  retain(&primary, 0); retain(&primary, 0);
  set_context(primary);
  allocated(100);
  give_back(0);
  allocated(100);
  give_back(0);
  retain(&primary, 1); set_context(primary);
  allocated(400);
  FUNCTION(cuDevicePrimaryCtxReset_v2, int)(1);
  retain(&primary, 2); set_context(primary);
  allocated(1000);
}

static void copies(void) {
  char host[64] = {0};
  upload(0x1000, host, 11);
  FUNCTION(cuMemcpyDtoH_v2, void *, u64, u64)(host, 0x1000, 12);
  FUNCTION(cuMemcpyDtoD_v2, u64, u64, u64)(0x2000, 0x1000, 13);
  FUNCTION(cuMemcpy, u64, u64, u64)(0x2000, 0x1000, 14);
  FUNCTION(cuMemcpyHtoDAsync_v2, u64, const void *, u64, u64)(0x1000, host, 15, 9);
  FUNCTION(cuMemcpyPeer, u64, u64, u64, u64, u64)(0x2000, 1, 0x1000, 2, 16);
  u64 two[16] = {0};
  two[2] = 2; two[4] = 0x1000; two[9] = 1; two[10] = 0x5000; two[14] = 10; two[15] = 5;
  FUNCTION(cuMemcpy2D_v2, const void *)(two);
  u64 three[25] = {0};
  three[4] = 1; three[5] = 0x5000; three[15] = 1; three[16] = 0x6000; three[22] = 10; three[23] = 5; three[24] = 2;
  FUNCTION(cuMemcpy3DAsync_v2, const void *, u64)(three, 9);
  FUNCTION(cuMemsetD32_v2, u64, u32, u64)(0x1000, 0, 100);
  FUNCTION(cuMemsetD2D16Async, u64, u64, unsigned short, u64, u64, u64)(0x1000, 512, 0, 30, 4, 9);
}

static void launches(void) {
  u64 f = kernel("plain"), g = 0, h = 0, s = 0, l = 0, m = 0;
  FUNCTION(cuModuleLoadData, u64 *, const void *)(&m, "image");
  FUNCTION(cuLibraryLoadData, u64 *, const void *, void *, void *, u32, void *)(&l, "image", 0, 0, 0, 0);
  FUNCTION(cuLibraryGetKernel, u64 *, u64, const char *)(&g, l, "of_a_library");
  FUNCTION(cuKernelGetFunction, u64 *, u64)(&h, g);
  FUNCTION(cuStreamCreate, u64 *, u32)(&s, 1);
  launch(f, s);
  u32 config[16] = {8, 9, 10, 11, 12, 1};
  memcpy(&config[8], &s, 8);
  FUNCTION(cuLaunchKernelEx, const u32 *, u64, void **, void **)(config, g, 0, 0);
  FUNCTION(cuLaunchCooperativeKernel, u64, u32, u32, u32, u32, u32, u32, u32, u64, void **)(h, 2, 3, 4, 5, 6, 7, 0, s, 0);
  FUNCTION(cuGraphLaunch, u64, u64)(0x4444, s);
  FUNCTION(cuLaunchHostFunc, u64, void *, void *)(s, 0, 0);
  const char *name;
  FUNCTION(cuFuncGetName, const char **, u64)(&name, 0x8888);
  FUNCTION(cuStreamSynchronize, u64)(s);
  FUNCTION(cuCtxSynchronize, void)();
  FUNCTION(cuStreamDestroy_v2, u64)(s);
  FUNCTION(cuModuleUnload, u64)(m);
}

static void capture(void) {
  u64 f = kernel("captured"), graph;
  launch(f, 1000);
  FUNCTION(cuEventRecord, u64, u64)(50, 1000);
  FUNCTION(cuStreamBeginCapture_v2, u64, int)(1000, 0);
  launch(f, 1000);
  FUNCTION(cuEventRecord, u64, u64)(51, 1000);
  FUNCTION(cuStreamWaitEvent, u64, u64, u32)(2000, 51, 0);
  launch(f, 2000);
  launch(f, 3000);
  FUNCTION(cuStreamEndCapture, u64, u64 *)(1000, &graph);
  launch(f, 1000);
  launch(f, 2000);
}

static void errors(void) {
  u64 p;
  alloc(&p, 1ull << 40);
  alloc(&p, 50);
  FUNCTION(cuStreamQuery, u64)(0);
  FUNCTION(cuCtxSetLimit, int, u64)(99, 1);
  upload(0, "", 5);
  upload(0x1000, "", 6);
  kernel("missing");
  u64 f = kernel("found");
  launch_kernel(f, 1, 1, 1, 2048, 1, 1, 0, 0, 0, 0);
  launch(f, 0);
}

static void asks(void) {
  u64 f = 0;
  int out = 0;
  FUNCTION(cuDriverGetVersion, int *)(&out);
  FUNCTION(cuCtxGetDevice, int *)(&out);
  FUNCTION(cuStreamQuery, u64)(0);
  FUNCTION(cuGetProcAddress_v2, const char *, void **, int, u64, int *)("cuNothing", 0, 12000, 0, 0);
  FUNCTION(cuLibraryGetKernel, u64 *, u64, const char *)(&f, module, "asked_for");
  launch(f, 0);
}

static u64 shared_address;
static void *thread_allocates(void *unused) { shared_address = allocated(4096); launch(kernel("in_thread"), 0); return unused; }
static void *thread_frees(void *unused) { release(shared_address); return unused; }
static void *thread_frees_nothing(void *unused) { release(0x123400); return unused; }
static void *thread_dies(void *unused) { allocated(0xdead1); return unused; }
static void forks(char **words) {
  u64 f = kernel("of_the_parent");
  launch(f, 0);
  pid_t child = fork();
  if (child == 0) {
    launch(f, 0);
    char *next[] = {words[0], "short", 0};
    execv("/proc/self/exe", next);
    _exit(8);
  }
  waitpid(child, 0, 0);
  child = fork();
  if (child == 0) { allocated(77); _exit(5); }
  waitpid(child, 0, 0);
  launch(f, 0);
}

/* Launches are counted a millisecond after the begin of a process, or of handles. */
static void be_counted(void) { usleep(1500); }

static void reload(long number) {
  for (long i = 0; i < number; i++) {
    u64 m;
    FUNCTION(cuModuleLoadData, u64 *, const void *)(&m, "image");
    u64 f = 0;
    get_function(&f, m, i % 2 ? "odd" : "even");
    be_counted();
    launch(f, 0); launch(f, 0); launch(f, 0);
    FUNCTION(cuModuleUnload, u64)(m);
  }
}

/* Two kernels, one after the other, with the same handle. */
static void reuse(void) {
  u64 f = kernel("reused_first");
  be_counted();
  for (int i = 0; i < 5; i++) launch(f, 0);
  f = kernel("reused_second");
  be_counted();
  for (int i = 0; i < 7; i++) launch(f, 0);
}

static void failing_launches(void) {
  u64 good = kernel("good"), bad = kernel("bad");
  be_counted();
  for (int i = 0; i < 10; i++) {
    launch(good, 0);
    launch_kernel(bad, 1, 1, 1, 2048, 1, 1, 0, 0, 0, 0);
  }
  launch(good, 0); launch(bad, 0);
}

static u64 endless;
static void *thread_launches(void *unused) { for (;;) launch(endless, 0); return unused; }
static void die_while_launching(void) {
  pthread_t thread;
  endless = kernel("endless");
  for (int i = 0; i < 2; i++) pthread_create(&thread, 0, thread_launches, 0);
  usleep(100000);
  kill(getpid(), SIGKILL);
}

/* Launches from another thread once the main thread has ended. */
static void *thread_outlives(void *main_thread) {
  pthread_join(*(pthread_t *)main_thread, 0);
  launch(kernel("after_main"), 0);
  return 0;
}
static void outlive_main(void *(*function)(void *)) {
  static pthread_t own;
  pthread_t thread;
  own = pthread_self();
  pthread_create(&thread, 0, function, &own);
  pthread_exit(0);
}

/* The same, from a thread that also loads the driver. */
static void *thread_loads(void *main_thread) {
  pthread_join(*(pthread_t *)main_thread, 0);
  FUNCTION(cuInit, u32)(0);
  getchar();
  launch(kernel("after_main"), 0);
  return 0;
}
/* Runs a program that loads the driver from another thread. */
static void *thread_runs(void *unused) {
  char *next[] = {"program", "wait", 0};
  execv("/proc/self/exe", next);
  _exit(8);
}

static void cold_name(void) {
  char path[] = "/tmp/gpubench-name-XXXXXX";
  int file = mkstemp(path);
  unlink(path);
  char page[8192] = {0};
  strcpy(page + 4096, "cold_page_kernel");
  if (write(file, page, sizeof page) != sizeof page) exit(7);
  const char *map = mmap(0, sizeof page, PROT_READ, MAP_PRIVATE, file, 0);
  madvise((void *)map, sizeof page, MADV_RANDOM);
  launch(kernel(map + 4096), 0);
}

static void names(long count) {
  for (long i = 0; i < count; i++) {
    char name[200];
    memset(name, 'x', sizeof name);
    sprintf(name + (i % 2 ? 1 : 150), "%ld", i);
    launch(kernel(name), 0);
  }
}

static void long_name(void) {
  static char name[3000];
  memset(name, 'y', sizeof name - 1);
  launch(kernel(name), 0);
  launch(kernel(name + 3000 - 1 - 255), 0);
  launch(kernel(name + 3000 - 1 - 254), 0);
}
static double seconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec + now.tv_nsec * 1e-9;
}
/* Prints the shortest of five times of the processor for a call, in nanoseconds. */
static void time_calls(long number) {
  u64 f = kernel("timed"), p;
  double launches = 1e9, pairs = 1e9;
  for (int round = 0; round < 5; round++) {
    double begin = seconds(CLOCK_THREAD_CPUTIME_ID);
    for (long i = 0; i < number; i++) launch(f, 0);
    double middle = seconds(CLOCK_THREAD_CPUTIME_ID);
    for (long i = 0; i < number; i++) { alloc(&p, 64); release(p); }
    double end = seconds(CLOCK_THREAD_CPUTIME_ID);
    if (middle - begin < launches) launches = middle - begin;
    if (end - middle < pairs) pairs = end - middle;
  }
  printf("launch %.0f ns, allocation and free %.0f ns\n", launches / number * 1e9, pairs / number * 1e9);
}
static long paced_launches;
static void *thread_paces(void *unused) {
  double begin = seconds(CLOCK_MONOTONIC);
  for (long i = 0; i < paced_launches; i++) {
    launch(endless, 0);
    if (i % 64 == 0) while (seconds(CLOCK_MONOTONIC) - begin < i * 2e-6) {}
  }
  return unused;
}
/* Launches as often as told, from two threads, a million times a second or as fast as it can. */
static void pace(long number) {
  pthread_t threads[2];
  endless = kernel("paced");
  paced_launches = number / 2;
  double begin = seconds(CLOCK_MONOTONIC);
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, thread_paces, 0);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
  printf("%.0f launches a second\n", number / (seconds(CLOCK_MONOTONIC) - begin));
}

int main(int count, char **words) {
  const char *what = count > 1 ? words[1] : "short";
  long number = count > 2 ? atol(words[2]) : 1;
  if (!strcmp(what, "load-after-main")) outlive_main(thread_loads);
  if (!strcmp(what, "exec-in-thread")) run_thread(thread_runs);
  FUNCTION(cuInit, u32)(0);
  if (!strcmp(what, "greet-and-wait")) { puts("ready"); fflush(stdout); what = "wait"; }
  if (!strcmp(what, "wait")) { getchar(); what = "short"; }
  if (!strcmp(what, "short")) { launch(kernel("short_lived"), 0); allocated(300); }
  else if (!strcmp(what, "yield")) { getchar(); for (long i = 0; i < number; i++) sched_yield(); }
  else if (!strcmp(what, "memory")) memory();
  else if (!strcmp(what, "map")) map_memory();
  else if (!strcmp(what, "unmap")) { map_memory(); FUNCTION(cuMemUnmap, u64, u64)(0x900000, 7000); }
  else if (!strcmp(what, "allocate-in-graph")) allocate_in_graph();
  else if (!strcmp(what, "contexts")) contexts();
  else if (!strcmp(what, "copies")) copies();
  else if (!strcmp(what, "launches")) launches();
  else if (!strcmp(what, "capture")) capture();
  else if (!strcmp(what, "errors")) errors();
  else if (!strcmp(what, "asks")) asks();
  else if (!strcmp(what, "threads")) { run_thread(thread_allocates); run_thread(thread_frees); }
  else if (!strcmp(what, "free-first")) { run_thread(thread_frees_nothing); run_thread(thread_allocates); }
  else if (!strcmp(what, "many-threads")) { for (long i = 0; i < number; i++) run_thread(thread_allocates); }
  else if (!strcmp(what, "die-in-thread")) { run_thread(thread_dies); allocated(42); }
  else if (!strcmp(what, "die-in-call")) allocated(0xdead2);
  else if (!strcmp(what, "slow")) { launch(kernel("before"), 0); allocated(0x510e); }
  else if (!strcmp(what, "allocate")) { for (long i = 0; i < number; i++) allocated(8); }
  else if (!strcmp(what, "launch")) { u64 f = kernel("looped"); for (long i = 0; i < number; i++) launch(f, 0); }
  else if (!strcmp(what, "fork")) forks(words);
  else if (!strcmp(what, "reload")) reload(number);
  else if (!strcmp(what, "reuse")) reuse();
  else if (!strcmp(what, "failing-launches")) failing_launches();
  else if (!strcmp(what, "die-while-launching")) die_while_launching();
  else if (!strcmp(what, "outlive-main")) outlive_main(thread_outlives);
  else if (!strcmp(what, "cold-name")) cold_name();
  else if (!strcmp(what, "names")) names(number);
  else if (!strcmp(what, "long-name")) long_name();
  else if (!strcmp(what, "time")) time_calls(number);
  else if (!strcmp(what, "pace")) pace(number);
  else return 2;
  return 0;
}
