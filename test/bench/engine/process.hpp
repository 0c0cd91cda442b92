// What the kernel knows about another process. Header only.
#pragma once

#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>

namespace ai::bench {

inline std::ifstream ProcessFile(long pid, const char* name) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/" + name);
  if (!file) {
    throw std::runtime_error("process " + std::to_string(pid) + " is gone");
  }
  return file;
}

/// The processor time it has used, in seconds.
inline double ProcessSeconds(long pid) {
  double nanoseconds = 0;
  ProcessFile(pid, "schedstat") >> nanoseconds;
  return nanoseconds / 1e9;
}

/// The memory that it holds for itself, in megabytes; shared buffers are not in it.
inline double PrivateMegabytes(long pid) {
  std::ifstream file = ProcessFile(pid, "status");
  for (std::string word; file >> word;) {
    if (word == "RssAnon:") {
      double kilobytes = 0;
      file >> kilobytes;
      return kilobytes / 1024;
    }
  }
  throw std::runtime_error("the kernel does not tell the memory of a process");
}

}  // namespace ai::bench
