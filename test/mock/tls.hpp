// tls.hpp: the TLS server side: a context for all connections and a stream for each.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>

#include "mock/certificate.hpp"
#include "mock/stream.hpp"

namespace ai::mock {

class TlsContext {
 public:
  TlsContext(const std::string& certificate_file, const std::string& key_file);
  explicit TlsContext(const Certificates& certificates);

  /// A stream over a socket that others own; the handshake happens with its first bytes.
  std::unique_ptr<Stream> MakeStream(int socket) const;

 private:
  struct Deleter {
    void operator()(SSL_CTX* x) const { SSL_CTX_free(x); }
  };

  TlsContext();

  std::unique_ptr<SSL_CTX, Deleter> context_;
};

}  // namespace ai::mock
