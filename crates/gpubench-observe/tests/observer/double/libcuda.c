/* A test double of the driver: its functions, with the types and calling sequences of `cuda.h`, and
 * stubs in the shape of a real driver. SHAPE is 0 for none, 535 for stubs that jump through a slot,
 * 580 for stubs that call through one, and 1 for functions whose first instruction the kernel must
 * step over. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HIDDEN __attribute__((visibility("hidden")))
typedef uint64_t u64;
typedef unsigned int u32;

enum { OK = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, INVALID_CONTEXT = 201, NOT_FOUND = 500, NOT_READY = 600, ILLEGAL_ADDRESS = 700 };

HIDDEN volatile int dead = 0;
static volatile u64 next_handle = 0x10000;
static u64 handle(void) { return __atomic_add_fetch(&next_handle, 0x100, __ATOMIC_RELAXED); }

/* Sizes that make the thread or the process die within the call. */
#define DIES_IN_THREAD 0xdead1
#define DIES_IN_PROCESS 0xdead2
#define TAKES_LONG 0x510e
#define TOO_MUCH (1ull << 40)

static int allocate(u64 *out, u64 bytes) {
  if (bytes == DIES_IN_THREAD) syscall(SYS_exit, 0);
  if (bytes == DIES_IN_PROCESS) kill(getpid(), SIGKILL);
  if (bytes == TAKES_LONG) usleep(2000);
  if (bytes >= TOO_MUCH) return OUT_OF_MEMORY;
  *out = handle();
  return OK;
}

#define OUT_ONLY { *out = handle(); return OK; }
#define FINE { return OK; }
HIDDEN int impl_cuInit(u32 flags) { return flags ? INVALID_VALUE : OK; }
HIDDEN int impl_cuDriverGetVersion(int *out) { *out = 13000; return OK; }
HIDDEN int impl_cuMemAlloc_v2(u64 *out, u64 bytes) { return allocate(out, bytes); }
extern int (*const slot_cuMemAlloc_v2)(u64 *, u64) HIDDEN;
/* The driver calls itself here: this is one allocation. */
HIDDEN int impl_cuMemAllocPitch_v2(u64 *out, u64 *pitch, u64 width, u64 height, u32 element) {
  *pitch = (width + 511) / 512 * 512;
  int result = slot_cuMemAlloc_v2(out, *pitch * height);
  __asm__ volatile("" : : "r"(element));
  return result;
}
HIDDEN int impl_cuMemAllocAsync(u64 *out, u64 bytes, u64 stream) { return allocate(out, bytes); }
HIDDEN int impl_cuMemAllocFromPoolAsync(u64 *out, u64 bytes, u64 pool, u64 stream) { return allocate(out, bytes); }
HIDDEN int impl_cuMemAllocManaged(u64 *out, u64 bytes, u32 flags) { return allocate(out, bytes); }
HIDDEN int impl_cuMemAllocHost_v2(u64 *out, u64 bytes) { return allocate(out, bytes); }
HIDDEN int impl_cuMemHostAlloc(u64 *out, u64 bytes, u32 flags) { return allocate(out, bytes); }
HIDDEN int impl_cuMemHostRegister_v2(u64 place, u64 bytes, u32 flags) FINE
HIDDEN int impl_cuMemCreate(u64 *out, u64 bytes, const void *properties, u64 flags) { return allocate(out, bytes); }
HIDDEN int impl_cuMemMap(u64 place, u64 bytes, u64 offset, u64 memory, u64 flags) FINE
HIDDEN int impl_cuMemUnmap(u64 place, u64 bytes) FINE
HIDDEN int impl_cuMemRetainAllocationHandle(u64 *out, u64 place) OUT_ONLY
HIDDEN int impl_cuMemImportFromShareableHandle(u64 *out, void *shared, int type) OUT_ONLY
HIDDEN int impl_cuArrayCreate_v2(u64 *out, const void *descriptor) OUT_ONLY
HIDDEN int impl_cuArray3DCreate_v2(u64 *out, const void *descriptor) OUT_ONLY
HIDDEN int impl_cuMemFree_v2(u64 place) FINE
HIDDEN int impl_cuMemFreeAsync(u64 place, u64 stream) FINE
HIDDEN int impl_cuMemFreeHost(u64 place) FINE
HIDDEN int impl_cuMemRelease(u64 memory) FINE
HIDDEN int impl_cuMemHostUnregister(u64 place) FINE
HIDDEN int impl_cuArrayDestroy(u64 array) FINE
HIDDEN int impl_cuMemcpyHtoD_v2(u64 to, const void *from, u64 bytes) { return to ? OK : INVALID_VALUE; }
HIDDEN int impl_cuMemcpyDtoH_v2(void *to, u64 from, u64 bytes) { return from ? OK : INVALID_VALUE; }
HIDDEN int impl_cuMemcpyDtoD_v2(u64 to, u64 from, u64 bytes) FINE
HIDDEN int impl_cuMemcpy(u64 to, u64 from, u64 bytes) FINE
HIDDEN int impl_cuMemcpyHtoDAsync_v2(u64 to, const void *from, u64 bytes, u64 stream) FINE
HIDDEN int impl_cuMemcpyPeer(u64 to, u64 context, u64 from, u64 other, u64 bytes) FINE
HIDDEN int impl_cuMemcpy2D_v2(const void *copy) FINE
HIDDEN int impl_cuMemcpy3DAsync_v2(const void *copy, u64 stream) FINE
HIDDEN int impl_cuMemsetD32_v2(u64 to, u32 value, u64 count) FINE
HIDDEN int impl_cuMemsetD2D16Async(u64 to, u64 pitch, unsigned short value, u64 width, u64 height, u64 stream) FINE
HIDDEN int impl_cuModuleLoadData(u64 *out, const void *image) OUT_ONLY
HIDDEN int impl_cuLibraryLoadData(u64 *out, const void *image, void *a, void *b, u32 c, void *d) OUT_ONLY
/* Handles of kernels are used again once a module is unloaded. */
static volatile u64 next_kernel = 0;
HIDDEN int impl_cuModuleUnload(u64 module) { next_kernel = 0; return OK; }
/* Reads the name, as the driver does. */
static int find(u64 *out, const char *name) {
  if (strcmp(name, "missing") == 0) return NOT_FOUND;
  if (strncmp(name, "reused", 6) == 0) { *out = 0xe0000000; return OK; }
  *out = 0xf0000000 + __atomic_add_fetch(&next_kernel, 0x10, __ATOMIC_RELAXED);
  return OK;
}
HIDDEN int impl_cuModuleGetFunction(u64 *out, u64 module, const char *name) { return find(out, name); }
HIDDEN int impl_cuLibraryGetKernel(u64 *out, u64 library, const char *name) { return find(out, name); }
HIDDEN int impl_cuKernelGetFunction(u64 *out, u64 kernel) OUT_ONLY
HIDDEN int impl_cuFuncGetName(const char **out, u64 function) { *out = "named_by_the_driver"; return OK; }
HIDDEN int impl_cuStreamCreate(u64 *out, u32 flags) OUT_ONLY
HIDDEN int impl_cuStreamDestroy_v2(u64 stream) FINE
HIDDEN int impl_cuStreamSynchronize(u64 stream) { usleep(2000); return OK; }
HIDDEN int impl_cuStreamQuery(u64 stream) { return NOT_READY; }
HIDDEN int impl_cuCtxSynchronize(void) FINE
HIDDEN int impl_cuCtxCreate_v2(u64 *out, u32 flags, int device) OUT_ONLY
HIDDEN int impl_cuCtxDestroy_v2(u64 context) FINE
HIDDEN int impl_cuCtxSetCurrent(u64 context) FINE
HIDDEN int impl_cuCtxPushCurrent_v2(u64 context) FINE
HIDDEN int impl_cuCtxPopCurrent_v2(u64 *out) FINE
HIDDEN int impl_cuDevicePrimaryCtxRetain(u64 *out, int device) { *out = 0xc0000 + device; return OK; }
HIDDEN int impl_cuDevicePrimaryCtxRelease_v2(int device) FINE
HIDDEN int impl_cuDevicePrimaryCtxReset_v2(int device) FINE
HIDDEN int impl_cuCtxGetDevice(int *out) { return INVALID_CONTEXT; }
HIDDEN int impl_cuCtxSetLimit(int limit, u64 value) { return limit == 99 ? ILLEGAL_ADDRESS : OK; }
HIDDEN int impl_cuEventRecord(u64 event, u64 stream) FINE
HIDDEN int impl_cuStreamWaitEvent(u64 stream, u64 event, u32 flags) FINE
HIDDEN int impl_cuStreamBeginCapture_v2(u64 stream, int mode) FINE
HIDDEN int impl_cuStreamEndCapture(u64 stream, u64 *out) OUT_ONLY
HIDDEN int impl_cuGraphLaunch(u64 graph, u64 stream) FINE
HIDDEN int impl_cuLaunchHostFunc(u64 stream, void *function, void *data) FINE
static int launch(u64 function, u32 threads) {
  if (function == DIES_IN_PROCESS) kill(getpid(), SIGKILL);
  return threads > 1024 ? INVALID_VALUE : OK;
}
HIDDEN int impl_cuLaunchKernel(u64 f, u32 gx, u32 gy, u32 gz, u32 bx, u32 by, u32 bz, u32 shared, u64 stream,
                               void **parameters, void **extra) { return launch(f, bx * by * bz); }
HIDDEN int impl_cuLaunchCooperativeKernel(u64 f, u32 gx, u32 gy, u32 gz, u32 bx, u32 by, u32 bz, u32 shared,
                                          u64 stream, void **parameters) { return launch(f, bx * by * bz); }
HIDDEN int impl_cuLaunchKernelEx(const u32 *config, u64 f, void **parameters, void **extra) {
  return launch(f, config[3] * config[4] * config[5]);
}
HIDDEN int impl_cuGetProcAddress_v2(const char *name, void **out, int version, u64 flags, int *status);

#define FUNCTIONS(X) X(cuInit) X(cuDriverGetVersion) X(cuMemAlloc_v2) X(cuMemAllocPitch_v2) X(cuMemAllocAsync) \
  X(cuMemAllocFromPoolAsync) X(cuMemAllocManaged) X(cuMemAllocHost_v2) X(cuMemHostAlloc) X(cuMemHostRegister_v2) \
  X(cuMemCreate) X(cuMemMap) X(cuMemUnmap) X(cuMemRetainAllocationHandle) \
  X(cuMemImportFromShareableHandle) X(cuArrayCreate_v2) X(cuArray3DCreate_v2) X(cuMemFree_v2) X(cuMemFreeAsync) \
  X(cuMemFreeHost) X(cuMemRelease) X(cuMemHostUnregister) X(cuArrayDestroy) X(cuMemcpyHtoD_v2) X(cuMemcpyDtoH_v2) \
  X(cuMemcpyDtoD_v2) X(cuMemcpy) X(cuMemcpyHtoDAsync_v2) X(cuMemcpyPeer) X(cuMemcpy2D_v2) X(cuMemcpy3DAsync_v2) \
  X(cuMemsetD32_v2) X(cuMemsetD2D16Async) X(cuModuleLoadData) X(cuModuleUnload) X(cuLibraryLoadData) \
  X(cuModuleGetFunction) X(cuLibraryGetKernel) X(cuKernelGetFunction) X(cuFuncGetName) X(cuStreamCreate) \
  X(cuStreamDestroy_v2) X(cuStreamSynchronize) X(cuStreamQuery) X(cuCtxSynchronize) X(cuCtxSetLimit) X(cuCtxGetDevice) \
  X(cuCtxCreate_v2) X(cuCtxDestroy_v2) X(cuCtxSetCurrent) X(cuCtxPushCurrent_v2) X(cuCtxPopCurrent_v2) \
  X(cuDevicePrimaryCtxRetain) X(cuDevicePrimaryCtxRelease_v2) X(cuDevicePrimaryCtxReset_v2) \
  X(cuEventRecord) X(cuStreamWaitEvent) X(cuStreamBeginCapture_v2) X(cuStreamEndCapture) X(cuGraphLaunch) \
  X(cuLaunchHostFunc) X(cuLaunchKernelEx) X(cuGetProcAddress_v2)
/* More than six arguments: the stub pushes those on the stack once more. */
#define WIDE_FUNCTIONS(X) X(cuLaunchKernel) X(cuLaunchCooperativeKernel)

#define SLOT(name) extern typeof(impl_##name) *const slot_##name; HIDDEN typeof(impl_##name) *const slot_##name = impl_##name;
FUNCTIONS(SLOT)
WIDE_FUNCTIONS(SLOT)

#define BEGIN(name) ".text\n.globl " #name "\n.type " #name ",@function\n" #name ":\n"
#define END(name) ".size " #name ",.-" #name "\n"
#define IS_DEAD " cmpl $0x321cba00,dead(%rip)\n je 1f\n"
#define FRAME " push %rbp\n mov %rsp,%rbp\n push %r12\n sub $8,%rsp\n" IS_DEAD
#define AFTER                                                                                      \
  " mov %eax,%r12d\n test %eax,%eax\n je 2f\n cmp $0x258,%eax\n je 2f\n lea -3(%rax),%eax\n"       \
  " cmp $1,%eax\n ja 3f\n2: mov %r12d,%eax\n mov -8(%rbp),%r12\n leave\n ret\n"                    \
  "3: mov $0x64,%ecx\n xor %esi,%esi\n mov %r12d,%eax\n mov -8(%rbp),%r12\n leave\n ret\n"         \
  "1: mov $4,%r12d\n jmp 2b\n"
#if SHAPE == 580
#define STUB(name) __asm__(BEGIN(name) FRAME " call *slot_" #name "(%rip)\n" AFTER END(name));
#define WIDE_STUB(name)                                                                            \
  __asm__(BEGIN(name) FRAME " sub $8,%rsp\n push 0x30(%rbp)\n push 0x28(%rbp)\n push 0x20(%rbp)\n" \
          " mov 0x18(%rbp),%eax\n push %rax\n mov 0x10(%rbp),%eax\n push %rax\n"                   \
          " call *slot_" #name "(%rip)\n" AFTER END(name));
#elif SHAPE == 535
#define STUB(name) __asm__(BEGIN(name) IS_DEAD " jmp *slot_" #name "(%rip)\n1: mov $4,%eax\n ret\n" END(name));
#define WIDE_STUB STUB
#elif SHAPE == 1
#define STUB(name) __asm__(BEGIN(name) " mov %rdi,%rdi\n jmp *slot_" #name "(%rip)\n" END(name));
#define WIDE_STUB STUB
#else
#define STUB(name) __asm__(".globl " #name "\n.type " #name ",@function\n.set " #name ",impl_" #name "\n");
#define WIDE_STUB STUB
#endif
FUNCTIONS(STUB)
WIDE_FUNCTIONS(WIDE_STUB)

#define DECLARE(name) extern int name();
FUNCTIONS(DECLARE)
WIDE_FUNCTIONS(DECLARE)
struct entry { const char *name; void *function; };
#define ENTRY(name) {#name, name},
static const struct entry entries[] = {FUNCTIONS(ENTRY) WIDE_FUNCTIONS(ENTRY)};
int impl_cuGetProcAddress_v2(const char *name, void **out, int version, u64 flags, int *status) {
  size_t length = strlen(name);
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
    if (strncmp(entries[i].name, name, length) == 0 && (!entries[i].name[length] || entries[i].name[length] == '_')) {
      *out = entries[i].function;
      return OK;
    }
  return NOT_FOUND;
}
