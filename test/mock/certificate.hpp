// certificate.hpp: a throw-away authority and a server certificate signed by it. Keys live in
// memory only; what is written to disk is the authority's certificate, for clients to trust.
#pragma once

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>

namespace ai::mock {

struct X509Deleter {
  void operator()(X509* x) const { X509_free(x); }
};
struct PkeyDeleter {
  void operator()(EVP_PKEY* x) const { EVP_PKEY_free(x); }
};
using X509Ptr = std::unique_ptr<X509, X509Deleter>;
using PkeyPtr = std::unique_ptr<EVP_PKEY, PkeyDeleter>;

/// What is wrong with a certificate on purpose.
enum class TlsFlaw { kNone, kExpired, kWrongHost };

struct Certificates {
  X509Ptr authority;
  X509Ptr server;
  PkeyPtr server_key;
};

/// For localhost, 127.0.0.1 and ::1, unless the flaw says otherwise.
Certificates MakeCertificates(TlsFlaw flaw);

void WritePem(const X509& certificate, const std::string& path);

}  // namespace ai::mock
