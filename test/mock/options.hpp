// options.hpp: the command line.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "mock/certificate.hpp"

namespace ai::mock {

struct Options {
  std::string host = "127.0.0.1";
  uint16_t port = 0;
  uint16_t tls_port = 0;
  uint16_t control_port = 0;
  unsigned threads = 2;
  std::string tls_directory;  // makes certificates and writes ca.pem there
  std::string tls_certificate;
  std::string tls_key;
  TlsFlaw tls_flaw = TlsFlaw::kNone;
  std::string settings;  // JSON, in force from the start and after a reset
  std::string rules;     // JSON, in force from the start
  long parent = 0;       // end at once unless this is the parent
  bool outlive_parent = false;
  bool help = false;

  bool tls() const { return !tls_directory.empty() || !tls_certificate.empty(); }
};

class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

Options ParseOptions(const std::vector<std::string>& arguments);

extern const char* const kUsage;

}  // namespace ai::mock
