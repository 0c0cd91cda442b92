// Small token tables, made on the spot: what is tested with them needs nothing that is installed.
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/token/encoding.hpp"
#include "core/token/rank_file.hpp"
#include "core/token/table_writer.hpp"

namespace ai::test {

/// A file with the given contents for as long as the object lives.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view contents) : path_("/tmp/ai-unit-XXXXXX") {
    const int file = mkstemp(path_.data());
    if (file < 0) {
      throw std::runtime_error("no temporary file");
    }
    close(file);
    std::ofstream(path_, std::ios::binary) << contents;
  }
  ~TemporaryFile() { unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// A few characters of every class.
inline constexpr std::string_view kSmallClassRanges =
    "Lu 41 5a\nLl 61 7a\nLu c0 d6\nLl df f6\nLl 17f 17f\nLt 1c5 1c5\nLm 2b0 2c1\nM 300 36f\n"
    "Lu 391 3a9\nLl 3b1 3c9\nLo 4e00 9fff\nN 30 39\nN b2 b3\nN 660 669\n"
    "White_Space 9 d\nWhite_Space 20 20\nWhite_Space 85 85\nWhite_Space a0 a0\n"
    "White_Space 2028 2029\nWhite_Space 3000 3000\n";

/// All single bytes, as the tokens 0 to 255, and then the others.
inline std::vector<std::string> TokensWith(const std::vector<std::string>& others) {
  std::vector<std::string> tokens;
  for (int byte = 0; byte < 256; ++byte) {
    tokens.emplace_back(1, static_cast<char>(byte));
  }
  tokens.insert(tokens.end(), others.begin(), others.end());
  return tokens;
}

inline token::TableSource SmallSource(token::SplitRule rule,
                                      const std::vector<std::string>& others) {
  token::TableSource source;
  source.name = "small";
  source.source = "made by a test";
  source.split_rule = rule;
  source.tokens = TokensWith(others);
  source.specials = {{"<|end|>", 100'000}, {"<|start|>", 100'002}};
  source.classes = token::ParseClassRanges(kSmallClassRanges);
  return source;
}

/// An encoding with the single bytes and the other tokens. The file may go once it is mapped.
inline std::shared_ptr<const token::Encoding> SmallEncoding(
    token::SplitRule rule, const std::vector<std::string>& others) {
  const TemporaryFile file(token::PackTable(SmallSource(rule, others)));
  return token::Encoding::Open(file.path());
}

}  // namespace ai::test
