// Opens a packed token table and vouches for it: whoever holds a TableFile may use its parts
// without any further check. What is missing, cut short, damaged or made for another machine or
// version is an Error(kMissingResource) that says what was expected and how to get it.
#pragma once

#include <string>
#include <string_view>

#include "core/file/mapped_file.hpp"
#include "core/token/char_class.hpp"
#include "core/token/split.hpp"
#include "core/token/table_format.hpp"
#include "core/token/vocabulary.hpp"

namespace ai::token {

class TableFile {
 public:
  explicit TableFile(const std::string& path);

  std::string_view name() const;
  std::string_view source() const;
  SplitRule split_rule() const { return static_cast<SplitRule>(header_.split_rule); }
  Vocabulary::Parts vocabulary() const;
  ClassTable classes() const;

 private:
  template <typename T>
  const T* Section(std::uint64_t at) const;

  MappedFile file_;
  TableHeader header_;
};

}  // namespace ai::token
