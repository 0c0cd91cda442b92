// See complaint.hpp.
#include "core/provider/complaint.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "core/error.hpp"
#include "core/json/visitor.hpp"
#include "core/provider/ascii.hpp"
#include "core/utf8.hpp"

namespace ai::provider {
namespace {

constexpr std::size_t kMaxBody = std::size_t{1} << 20;  // an explanation is never that long
constexpr std::size_t kMaxText = 4096;

// Where the message, the code and the type of an error may be; the first that is there counts.
constexpr std::array<std::string_view, 8> kMessages = {
    "error.message",    "error",        "message",         "detail", "detail[].msg",
    "[].error.message", "error.detail", "errors[].message"};
constexpr std::array<std::string_view, 2> kCodes = {"error.code", "code"};
constexpr std::array<std::string_view, 4> kTypes = {"error.type", "error.status", "[].error.status",
                                                    "type"};

/// Keeps the string of the first of some paths.
class FirstOf {
 public:
  explicit FirstOf(std::span<const std::string_view> paths) : paths_(paths) {}

  void Offer(std::string_view path, std::string_view value) {
    const auto rank =
        static_cast<std::size_t>(std::find(paths_.begin(), paths_.end(), path) - paths_.begin());
    if (rank < rank_ && rank < paths_.size() && !value.empty()) {
      rank_ = rank;
      value_ = utf8::Clip(value, kMaxText);
    }
  }

  std::string& value() { return value_; }

 private:
  std::span<const std::string_view> paths_;
  std::size_t rank_ = static_cast<std::size_t>(-1);
  std::string value_;
};

class Listener final : public json::Visitor {
 public:
  void OnString(std::string_view path, std::string_view value) override {
    message.Offer(path, value);
    code.Offer(path, value);
    type.Offer(path, value);
  }

  FirstOf message{kMessages};
  FirstOf code{kCodes};
  FirstOf type{kTypes};
};

std::size_t FindIgnoringCase(std::string_view text, std::string_view part) {
  const auto at = std::search(text.begin(), text.end(), part.begin(), part.end(),
                              [](char a, char b) { return Lower(a) == b; });
  return at == text.end() ? std::string_view::npos : static_cast<std::size_t>(at - text.begin());
}

/// A page is reduced to its title.
std::string DescribePage(std::string_view page) {
  page = page.substr(0, kMaxText);
  const std::size_t tag = FindIgnoringCase(page, "<title>");
  if (tag == std::string_view::npos) {
    return "an HTML page";
  }
  const std::string_view rest = page.substr(tag + std::string_view("<title>").size());
  return "an HTML page \"" + std::string(utf8::Strip(rest.substr(0, rest.find('<')))) + "\"";
}

}  // namespace

Complaint ReadComplaint(std::string_view body) {
  const std::string_view text = utf8::Strip(body.substr(0, kMaxText));
  if (text.starts_with('<')) {
    return {.message = DescribePage(text)};
  }
  if (!text.starts_with('{') && !text.starts_with('[')) {
    return {.message = std::string(text)};
  }
  Listener listener;
  std::string json(body.substr(0, kMaxBody));
  try {
    json::Visit(json, listener);
  } catch (const Error&) {
    // Cut off or garbled: what was read before that is better than nothing.
  }
  const bool found = !listener.message.value().empty() || !listener.code.value().empty();
  return {listener.message.value(), listener.code.value(), listener.type.value(), found};
}

}  // namespace ai::provider
