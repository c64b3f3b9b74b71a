/* Which memory an address belongs to. All of them are ordinary memory here, so the answer comes
 * from the place: the stack, the thread's block of `__shared__` variables, an exported
 * variable. */
#pragma once
#include <dlfcn.h>
#include <link.h>

/* Where dynamic shared memory begins. */
extern thread_local char gb_dynamic_area[];

/* Bytes of a thread's stack, see `executor/stack.rs`. */
#define GB_STACK_BYTES (256u << 10)

static inline bool gb_is_within(const void *p, const void *start, size_t bytes) { return size_t(p) - size_t(start) < bytes; }

struct gb_block_of_thread {
  const void *of, *asked;
  bool found;
};

/* Sets `found` if the library's block for this OS thread has both addresses. */
static inline int gb_look_into_block(struct dl_phdr_info *library, size_t, void *data) {
  gb_block_of_thread *const look = (gb_block_of_thread *)data;
  for (int i = 0; i < library->dlpi_phnum; i++) {
    const size_t bytes = library->dlpi_phdr[i].p_memsz;
    if (library->dlpi_phdr[i].p_type != PT_TLS || !library->dlpi_tls_data) continue;
    if (!gb_is_within(look->of, library->dlpi_tls_data, bytes)) continue;
    look->found = gb_is_within(look->asked, library->dlpi_tls_data, bytes);
    return 1;
  }
  return 0;
}

static inline unsigned int __isShared(const void *p) {
  if (gb_is_within(p, gb_dynamic_area, gb_now.dynamic_shared)) return 1;
  gb_block_of_thread look = {&gb_shared_origin, p, false};
  dl_iterate_phdr(gb_look_into_block, &look);
  return look.found;
}
/* The frame may be that of a caller. A library may lie next to the stack. */
static inline unsigned int __isLocal(const void *p) {
  Dl_info found;
  const char *const frame = (const char *)__builtin_frame_address(0);
  return gb_is_within(p, frame - GB_STACK_BYTES, 2 * GB_STACK_BYTES) && !dladdr(p, &found);
}
static inline unsigned int __isConstant(const void *p) {
  Dl_info found;
  return dladdr(p, &found) && found.dli_sname;
}
static inline unsigned int __isGlobal(const void *p) { return !__isLocal(p) && !__isShared(p) && !__isConstant(p); }
static inline unsigned int __isCtaShared(const void *p) { return __isShared(p); }

#define GB_SPACE(space)                                                                              \
  static inline size_t __cvta_generic_to_##space(const void *p) { return size_t(p); }                \
  static inline void *__cvta_##space##_to_generic(size_t address) { return (void *)address; }
GB_SPACE(global)
GB_SPACE(shared)
GB_SPACE(constant)
GB_SPACE(local)
GB_SPACE(grid_constant)
#undef GB_SPACE
