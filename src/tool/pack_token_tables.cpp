// Packs one token table. A program for set-up, built and called by scripts/token-tables; the server
// never runs it.
//
//   pack_token_tables <encoding> <rank file> <class ranges> <source> <packed file>
//
// <source> is a few words for people on what the table is made from. Exits with 0 if the packed
// file is written and can be opened, 1 with a message if not, 2 if called wrongly.
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>

#include "core/error.hpp"
#include "core/token/encoding.hpp"
#include "core/token/encoding_name.hpp"
#include "core/token/rank_file.hpp"
#include "core/token/table_writer.hpp"

namespace {

using ai::token::EncodingFacts;

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string contents{std::istreambuf_iterator<char>(file), {}};
  if (!file.is_open() || file.bad()) {
    throw ai::Error(ai::ErrorCode::kMissingResource, "could not read \"" + path + "\"");
  }
  return contents;
}

void WriteFile(const std::string& path, const std::string& contents) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << contents;
  file.close();
  if (!file) {
    throw ai::Error(ai::ErrorCode::kMissingResource, "could not write \"" + path + "\"");
  }
}

void Pack(const EncodingFacts& facts, char** arguments) {
  ai::token::TableSource source;
  source.name = facts.text;
  source.split_rule = facts.split_rule;
  source.specials.assign(facts.special_tokens.begin(), facts.special_tokens.end());
  source.tokens = ai::token::ParseRanks(ReadFile(arguments[0]));
  source.classes = ai::token::ParseClassRanges(ReadFile(arguments[1]));
  source.source = arguments[2];
  const std::string path = arguments[3];
  WriteFile(path, ai::token::PackTable(source));
  const ai::token::Encoding written(path);
}

}  // namespace

int main(int argc, char** argv) {
  const std::optional<ai::token::EncodingName> name =
      argc == 6 ? ai::token::ParseEncodingName(argv[1]) : std::nullopt;
  if (!name) {
    std::cerr << "usage: pack_token_tables cl100k_base|o200k_base <rank file> <class ranges> "
                 "<source> <packed file>\n";
    return 2;
  }
  try {
    Pack(ai::token::FactsOf(*name), argv + 2);
    return 0;
  } catch (const ai::Error& error) {
    std::cerr << error.what() << "\n" << error.detail() << "\n";
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
  }
  return 1;
}
