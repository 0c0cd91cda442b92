// A file mapped read-only, shared with every other process that maps it. Knows nothing of what is
// in the file.
//
// A file that is cut short while it is mapped kills whoever reads it, so what is mapped here must
// be replaced by renaming a new file over it and never written in place.
#pragma once

#include <string>
#include <string_view>

namespace ai {

class MappedFile {
 public:
  /// Throws std::system_error if the file cannot be opened, is not a regular file or cannot be
  /// mapped. An empty file is mapped as no bytes.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  /// The contents; the first byte is at the start of a page of memory.
  std::string_view bytes() const { return bytes_; }

 private:
  std::string_view bytes_;
};

}  // namespace ai
