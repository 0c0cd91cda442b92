// Packs the directory of a published model into one file that every process can map. A program for
// set-up, built and called by scripts/model; also for users who want a model of their own to open
// fast. The server never runs it.
//
//   pack_model <directory> <name> <source> <notice file> <packed file>
//
// <source> is a few words for people on where the model is from, <notice file> the notice of its
// license ("" for none). Exits with 0 if the packed file is written and can be opened, 1 with a
// message if not, 2 if called wrongly.
#include <exception>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "core/error.hpp"
#include "core/model/model.hpp"
#include "core/model/model_directory.hpp"

namespace {

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

void Pack(char** arguments) {
  const std::string notice_path = arguments[3];
  ai::model::DirectoryPacking packing;
  packing.name = arguments[1];
  packing.source = arguments[2];
  packing.notice = notice_path.empty() ? "" : ReadFile(notice_path);
  const std::string path = arguments[4];
  WriteFile(path, ai::model::PackDirectory(arguments[0], packing));
  if (!ai::model::Model::Open(path)->packed().WeightsAreIntact()) {
    throw ai::Error(ai::ErrorCode::kMissingResource, "\"" + path + "\" was not written completely");
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    std::cerr << "usage: pack_model <directory> <name> <source> <notice file> <packed file>\n";
    return 2;
  }
  try {
    Pack(argv + 1);
    return 0;
  } catch (const ai::Error& error) {
    std::cerr << error.what() << "\n" << error.detail() << "\n" << error.hint() << "\n";
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
  }
  return 1;
}
