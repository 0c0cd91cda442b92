// Runs the oracle vectors of a directory against our splitters and the embedded model.
//
//   check_vectors <directory>
//
// Prints for each *.jsonl the number of cases, passed, failed and skipped, each failure with its
// line, each reason to skip with its number. Exit status 1 if any case failed or could not be read,
// or if the directory holds no case at all; 2 for a wrong call.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/json/document.hpp"
#include "vectors/model_case.hpp"
#include "vectors/vector_case.hpp"

namespace {

struct Tally {
  std::size_t passed = 0;
  std::map<std::size_t, std::string> failed;   // by line
  std::map<std::string, std::size_t> skipped;  // by reason

  std::size_t Skipped() const {
    std::size_t sum = 0;
    for (const auto& [reason, count] : skipped) {
      sum += count;
    }
    return sum;
  }
  std::size_t Cases() const { return passed + failed.size() + Skipped(); }
};

void Count(std::optional<std::string> failure, const std::string& name, std::size_t number,
           Tally& tally) {
  if (failure) {
    tally.failed[number] = name + *failure;
  } else {
    ++tally.passed;
  }
}

void RunLine(const std::string& text, std::size_t number, ai::vectors::ModelCheck& model,
             Tally& tally) {
  try {
    const ai::json::Document document = ai::json::Document::Parse(text);
    const ai::json::Value line = document.root();
    const bool is_model = ai::vectors::IsModelCase(line);
    if (!is_model && !ai::vectors::IsSplitterCase(line)) {
      tally.failed[number] = "is no case of a splitter or of the model";
    } else if (const auto reason = is_model ? model.SkipReason() : ai::vectors::SkipReason(line)) {
      ++tally.skipped[*reason];
    } else if (is_model) {
      Count(model.Check(line), "", number, tally);
    } else {
      Count(ai::vectors::Check(line), std::string(line.GetString("id", "?")) + ": ", number, tally);
    }
  } catch (const std::exception& error) {
    tally.failed[number] = std::string("cannot be run: ") + error.what();
  }
}

Tally RunFile(const std::filesystem::path& path, ai::vectors::ModelCheck& model) {
  Tally tally;
  std::ifstream in(path, std::ios::binary);
  std::string text;
  std::size_t number = 0;
  while (std::getline(in, text)) {
    ++number;
    if (!text.empty()) {
      RunLine(text, number, model, tally);
    }
  }
  if (!in.eof()) {
    tally.failed[number + 1] = "cannot read the file";
  }
  return tally;
}

void Print(const std::string& name, const Tally& tally) {
  std::cout << name << ": " << tally.Cases() << " cases, " << tally.passed << " passed, "
            << tally.failed.size() << " failed, " << tally.Skipped() << " skipped\n";
  for (const auto& [reason, count] : tally.skipped) {
    std::cout << "  skipped " << count << ": " << reason << "\n";
  }
  for (const auto& [line, what] : tally.failed) {
    std::cout << "  FAILED line " << line << ": " << what << "\n";
  }
}

std::vector<std::filesystem::path> VectorFiles(const std::string& directory) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (entry.path().extension() == ".jsonl") {
      paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

int Run(const std::string& directory) {
  ai::vectors::ModelCheck model;
  std::size_t cases = 0;
  std::size_t failed = 0;
  for (const std::filesystem::path& path : VectorFiles(directory)) {
    const Tally tally = RunFile(path, model);
    Print(path.filename().string(), tally);
    cases += tally.Cases();
    failed += tally.failed.size();
  }
  if (cases == 0) {
    std::cerr << "check_vectors: no case in " << directory << "\n";
    return 1;
  }
  return failed == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char* argv[]) {
  if (argc != 2) {
    std::cerr << "usage: check_vectors <directory>\n";
    return 2;
  }
  try {
    return Run(argv[1]);
  } catch (const std::exception& error) {
    std::cerr << "check_vectors: " << error.what() << "\n";
    return 1;
  }
}
