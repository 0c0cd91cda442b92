#include "core/model/kernels.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace ai::model {
namespace {

#if defined(__x86_64__)

constexpr const Kernels* kKnown[] = {&kPlainKernels, &kAvx2Kernels, &kAvx512Kernels, &kAmxKernels};

bool HasAvx2() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  // The builtins look at the operating system's support too, but not all compilers know f16c.
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}

/// The registers of tiles are large, so the system gives them only to those who ask.
bool HasAmx() {
  constexpr unsigned kTiles = 1U << 24;
  constexpr unsigned kBrainFloats = 1U << 22;
  constexpr long kAskForState = 0x1023;  // ARCH_REQ_XCOMP_PERM, since Linux 5.16
  constexpr long kTileState = 18;
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & kTiles) != 0 &&
         (d & kBrainFloats) != 0 && syscall(SYS_arch_prctl, kAskForState, kTileState) == 0;
}

std::size_t CountRunnable() {
  if (!HasAvx2()) {
    return 1;
  }
  if (!__builtin_cpu_supports("avx512f")) {
    return 2;
  }
  return HasAmx() ? 4 : 3;
}

#else

constexpr const Kernels* kKnown[] = {&kPlainKernels};

std::size_t CountRunnable() {
  return 1;
}

#endif

}  // namespace

std::span<const Kernels* const> RunnableKernels() {
  return {kKnown, CountRunnable()};
}

const Kernels& BestKernels() {
  return *RunnableKernels().back();
}

}  // namespace ai::model
