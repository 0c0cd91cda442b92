#include "core/model/kernels.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace ai::model {
namespace {

#if defined(__x86_64__)

constexpr const Kernels* kKnown[] = {&kPlainKernels, &kAvx2Kernels, &kAvx512Kernels};

bool HasAvx2() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  // The builtins look at the operating system's support too, but not all compilers know f16c.
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}

std::size_t CountRunnable() {
  if (!HasAvx2()) {
    return 1;
  }
  return __builtin_cpu_supports("avx512f") ? 3 : 2;
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
