// options.cpp: the command line.
#include "mock/options.hpp"

#include <array>
#include <charconv>
#include <string_view>

namespace ai::mock {

const char* const kUsage = R"(usage: mock_provider [options]

  --host ADDRESS        IPv4 address to listen on (127.0.0.1)
  --port PORT           of HTTP; 0 lets the system pick one (0)
  --tls-port PORT       of HTTPS, with --tls or --tls-cert (0)
  --control-port PORT   for control requests only (0)
  --threads N           that serve connections (2)
  --tls DIRECTORY       make a certificate for localhost and write its authority to ca.pem there
  --tls-cert FILE       take this certificate instead, with its key
  --tls-key FILE
  --tls-flaw FLAW       of the certificate made: expired or wrong-host
  --settings JSON       as for POST /control/settings; also what a reset goes back to
  --rules JSON          as for POST /control
  --parent PID          end at once unless this is the parent process
  --outlive-parent      go on when the parent process ends

The first line of the output is the port; the last, when all is set up, is "ready".
)";

namespace {

uint64_t ParseNumber(std::string_view name, std::string_view text, uint64_t most) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value > most) {
    throw UsageError(std::string(name) + " wants a number up to " + std::to_string(most));
  }
  return value;
}

uint16_t ParsePort(std::string_view name, std::string_view text) {
  return static_cast<uint16_t>(ParseNumber(name, text, UINT16_MAX));
}

TlsFlaw ParseFlaw(std::string_view text) {
  if (text == "expired") {
    return TlsFlaw::kExpired;
  }
  if (text == "wrong-host") {
    return TlsFlaw::kWrongHost;
  }
  throw UsageError("--tls-flaw wants expired or wrong-host");
}

struct Option {
  std::string_view name;
  void (*set)(Options& options, std::string_view name, const std::string& value);
};

constexpr unsigned kMaxThreads = 64;
constexpr uint64_t kMaxPid = uint64_t{1} << 30;

constexpr std::array kOptions{
    Option{"--host", [](Options& o, std::string_view, const std::string& v) { o.host = v; }},
    Option{"--port",
           [](Options& o, std::string_view n, const std::string& v) { o.port = ParsePort(n, v); }},
    Option{"--tls-port", [](Options& o, std::string_view n,
                            const std::string& v) { o.tls_port = ParsePort(n, v); }},
    Option{"--control-port", [](Options& o, std::string_view n,
                                const std::string& v) { o.control_port = ParsePort(n, v); }},
    Option{"--threads",
           [](Options& o, std::string_view n, const std::string& v) {
             o.threads = static_cast<unsigned>(ParseNumber(n, v, kMaxThreads));
           }},
    Option{"--tls",
           [](Options& o, std::string_view, const std::string& v) { o.tls_directory = v; }},
    Option{"--tls-cert",
           [](Options& o, std::string_view, const std::string& v) { o.tls_certificate = v; }},
    Option{"--tls-key", [](Options& o, std::string_view, const std::string& v) { o.tls_key = v; }},
    Option{"--tls-flaw",
           [](Options& o, std::string_view, const std::string& v) { o.tls_flaw = ParseFlaw(v); }},
    Option{"--settings",
           [](Options& o, std::string_view, const std::string& v) { o.settings = v; }},
    Option{"--rules", [](Options& o, std::string_view, const std::string& v) { o.rules = v; }},
    Option{"--parent",
           [](Options& o, std::string_view n, const std::string& v) {
             o.parent = static_cast<long>(ParseNumber(n, v, kMaxPid));
           }},
};

void Set(Options& options, const std::string& name, const std::string& value) {
  for (const Option& option : kOptions) {
    if (option.name == name) {
      option.set(options, name, value);
      return;
    }
  }
  throw UsageError("unknown option " + name);
}

void Check(const Options& options) {
  if (options.threads == 0) {
    throw UsageError("--threads wants at least one");
  }
  if (options.tls_certificate.empty() != options.tls_key.empty()) {
    throw UsageError("--tls-cert and --tls-key go together");
  }
  if (!options.tls_directory.empty() && !options.tls_certificate.empty()) {
    throw UsageError("--tls and --tls-cert exclude each other");
  }
}

}  // namespace

Options ParseOptions(const std::vector<std::string>& arguments) {
  Options options;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& name = arguments[i];
    if (name == "--help") {
      options.help = true;
    } else if (name == "--outlive-parent") {
      options.outlive_parent = true;
    } else if (i + 1 < arguments.size()) {
      Set(options, name, arguments[++i]);
    } else {
      throw UsageError("unknown option, or one without its value: " + name);
    }
  }
  Check(options);
  return options;
}

}  // namespace ai::mock
