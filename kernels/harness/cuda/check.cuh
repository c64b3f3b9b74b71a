// `gb_check`: compares every element of an output with the expected one, tile by tile in the order
// of a keyed permutation. A tile belongs to one team of threads. The permutation makes each element
// compared once, and the count proves it.
#pragma once

#if !defined(__GPUBENCH_CPU__)
#include "check_gpu.cuh"
#else
#include "check_cpu.cuh"
#endif

GB_KERNEL(3) gb_check(const __grid_constant__ gb_check_args a) {
  gb::after_earlier_work();
  const gb::Share reporter = gb::share_of_reporter();
  const uint64_t reporters = gb::least(reporter.step, a.partial_count);
  if (reporter.first >= reporters) return;
  gb_check_partial partial = gb::empty_partial();
  if (gb::element_bytes(a.dtype) != 0 && a.len != 0 && a.mode <= GB_CHECK_CLOSE) {
    gb::check_share(a, gb::share_among(reporters), partial);
  }
  if (!gb::folded<gb::merge_checks>(partial)) return;
  gb_check_partial *partials = (gb_check_partial *)a.partials;
  partials[reporter.first] = partial;
  for (uint64_t idle = reporter.first + reporters; idle < a.partial_count; idle += reporters) partials[idle] = gb::empty_partial();
}
