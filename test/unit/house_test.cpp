// The rules of the house that a compiler does not know: which directory may include which, that the
// map in CONTRIBUTING.md shows what is there, and that scripts name sources that exist.
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <span>

#include "unit/catch_bridge.hpp"

namespace ai {
namespace {

namespace fs = std::filesystem;

/// From below to above: a file includes what is in its own directory or below. Subdirectories that
/// are not named belong to the one that they are in.
constexpr std::string_view kLayers[] = {
    "core",
    "core/file",
    "core/json",
    "core/text",
    "core/token",
    "core/http",
    "core/model",
    "core/provider",
    "core/policy",
    "core/pipeline",
    "pg",
    "worker/shared",
    "worker/process",
    "worker/endpoint",
    "worker/statements",
    "worker/vectorizer",
    "worker/jobs",
    "worker/pipeline",
    "worker/upkeep",
    "worker/supervise",
    "worker",
    "pg/functions",
    "tool",
    "",
};

/// A library that only one directory knows.
struct Wrapped {
  std::string_view header;
  std::string_view directory;
};
constexpr Wrapped kWrapped[] = {
    {"curl/", "core/http"}, {"pcre2.h", "core/text"}, {"openssl/", "core"}, {"postgres.h", "pg"}};

std::size_t LayerOf(std::string_view directory) {
  while (true) {
    const auto* const found = std::find(std::begin(kLayers), std::end(kLayers), directory);
    if (found != std::end(kLayers)) {
      return static_cast<std::size_t>(found - std::begin(kLayers));
    }
    const std::size_t slash = directory.rfind('/');
    directory = slash == std::string_view::npos ? "" : directory.substr(0, slash);
  }
}

bool IsIn(std::string_view directory, std::string_view parent) {
  return directory == parent || directory.starts_with(std::string(parent) + "/");
}

/// What is between the quotes or brackets of an #include; empty if the line is none.
std::string_view Included(std::string_view line) {
  constexpr std::string_view kDirective = "#include ";
  if (!line.starts_with(kDirective)) {
    return {};
  }
  line.remove_prefix(kDirective.size() + 1);
  return line.substr(0, line.find_first_of("\">"));
}

/// What is wrong with an include; empty if nothing is.
std::string_view Fault(const std::string& directory, std::string_view header) {
  for (const Wrapped& wrapped : kWrapped) {
    if (header.starts_with(wrapped.header) && !IsIn(directory, wrapped.directory)) {
      return "a header for one directory only";
    }
  }
  if (!fs::exists("src/" + std::string(header))) {
    return {};  // of the system, or beside the file
  }
  const std::string of = fs::path(header).parent_path().string();
  return LayerOf(of) > LayerOf(directory) ? "an include upward" : std::string_view();
}

/// Directories below some, by their paths.
std::set<std::string> Directories(std::span<const std::string_view> roots, int depth) {
  std::set<std::string> found;
  for (const std::string_view root : roots) {
    found.insert(std::string(root) + "/");
    for (auto entry = fs::recursive_directory_iterator(root); entry != fs::end(entry); ++entry) {
      if (entry->is_directory() && entry.depth() < depth) {
        found.insert(entry->path().string() + "/");
      }
    }
  }
  return found;
}

/// The paths in the first block of CONTRIBUTING.md.
std::set<std::string> Map() {
  std::ifstream file("CONTRIBUTING.md");
  std::set<std::string> paths;
  std::string line;
  while (std::getline(file, line) && line != "```") {
  }
  while (std::getline(file, line) && line != "```") {
    paths.insert(line.substr(0, line.find(' ')));
  }
  return paths;
}

/// Paths of sources in a script, such as src/core/utf8.cpp or src/core/json/*.cpp.
std::vector<std::string> NamedSources(const std::string& text) {
  static const std::regex kSource(R"(\bsrc/[A-Za-z0-9_/*]+\.[ch]pp\b)");
  return {std::sregex_token_iterator(text.begin(), text.end(), kSource), {}};
}

bool IsThere(const fs::path& source) {
  if (source.stem() != "*") {
    return fs::exists(source);
  }
  const fs::path directory = source.parent_path();
  return fs::is_directory(directory) &&
         std::any_of(fs::directory_iterator(directory), fs::directory_iterator(),
                     [&](const fs::directory_entry& entry) {
                       return entry.path().extension() == source.extension();
                     });
}

}  // namespace

TEST_CASE("sources that scripts name are there", "[house]") {
  std::size_t named = 0;
  for (const auto& entry : fs::recursive_directory_iterator("scripts")) {
    if (!entry.is_regular_file()) {
      continue;
    }
    std::ifstream file(entry.path());
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    for (const std::string& source : NamedSources(text)) {
      ++named;
      INFO(entry.path().string() << ": " << source);
      CHECK(IsThere(source));
    }
  }
  CHECK(named > 5);
  CHECK_FALSE(IsThere("src/core/no_such_file.cpp"));
  CHECK_FALSE(IsThere("src/core/no_such_directory/*.cpp"));
}

TEST_CASE("no file includes what is above it", "[house]") {
  std::size_t includes = 0;
  for (const auto& entry : fs::recursive_directory_iterator("src")) {
    const std::string extension = entry.path().extension().string();
    if (extension != ".hpp" && extension != ".cpp") {
      continue;
    }
    const fs::path path = fs::relative(entry.path(), "src");
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      const std::string_view header = Included(line);
      if (header.empty()) {
        continue;
      }
      const std::string_view fault = Fault(path.parent_path().string(), header);
      ++includes;
      INFO(path.string() << ": " << line << ": " << fault);
      REQUIRE(fault.empty());
    }
  }
  CHECK(includes > 500);
}

TEST_CASE("an include upward is seen", "[house]") {
  CHECK(Fault("core/json", "pg/postgres.hpp") == "an include upward");
  CHECK(Fault("pg/queue", "worker/engine.hpp") == "an include upward");
  CHECK(Fault("pg/queue", "pg/postgres.hpp").empty());
  CHECK(Fault("worker/jobs", "curl/curl.h") == "a header for one directory only");
  CHECK(Fault("pg/functions", "worker/engine.hpp").empty());
}

TEST_CASE("the map of the tree shows all of it, and nothing else", "[house]") {
  constexpr std::string_view kRoots[] = {"src", "sql", "test", "scripts", "doc", "expected"};
  constexpr int kDepth = 2;
  const std::set<std::string> map = Map();
  for (const std::string& path : map) {
    INFO(path);
    CHECK(fs::exists(path));
  }
  for (const std::string& path : Directories(kRoots, kDepth)) {
    const bool is_inner = path.starts_with("test/t/") && path != "test/t/";
    INFO(path);
    CHECK((is_inner || map.contains(path)));
  }
}

}  // namespace ai
