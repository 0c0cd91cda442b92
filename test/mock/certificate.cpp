// certificate.cpp: a throw-away authority and a server certificate signed by it.
#include "mock/certificate.hpp"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <stdexcept>

namespace ai::mock {

namespace {

constexpr long kDay = 24L * 60 * 60;

// OpenSSL tells failure by a null or a zero; the error queue has the reason.
template <typename T>
T Check(T result, const char* what) {
  if (!result) {
    throw std::runtime_error(std::string(what) + ": " + ERR_error_string(ERR_get_error(), nullptr));
  }
  return result;
}

PkeyPtr MakeKey() {
  return PkeyPtr(Check(EVP_EC_gen("P-256"), "EVP_EC_gen"));
}

void SetSerial(X509& certificate) {
  uint64_t serial = 0;
  Check(RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof(serial)) == 1, "RAND_bytes");
  Check(ASN1_INTEGER_set_uint64(X509_get_serialNumber(&certificate), serial >> 1),
        "ASN1_INTEGER_set_uint64");
}

void AddExtension(X509& certificate, X509& issuer, int nid, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, &issuer, &certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension =
      Check(X509V3_EXT_conf_nid(nullptr, &context, nid, value), "X509V3_EXT_conf_nid");
  const int added = X509_add_ext(&certificate, extension, -1);
  X509_EXTENSION_free(extension);
  Check(added, "X509_add_ext");
}

constexpr long kVersion3 = 2;

// A certificate with a name and a key, valid from `first` to `last` seconds from now, unsigned.
X509Ptr MakeUnsigned(const char* name, EVP_PKEY& key, long first, long last) {
  X509Ptr certificate(Check(X509_new(), "X509_new"));
  Check(X509_set_version(certificate.get(), kVersion3), "X509_set_version");
  SetSerial(*certificate);
  Check(X509_gmtime_adj(X509_getm_notBefore(certificate.get()), first), "X509_gmtime_adj");
  Check(X509_gmtime_adj(X509_getm_notAfter(certificate.get()), last), "X509_gmtime_adj");
  Check(X509_set_pubkey(certificate.get(), &key), "X509_set_pubkey");
  Check(X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate.get()), "CN", MBSTRING_ASC,
                                   reinterpret_cast<const unsigned char*>(name), -1, -1, 0),
        "X509_NAME_add_entry_by_txt");
  return certificate;
}

}  // namespace

Certificates MakeCertificates(TlsFlaw flaw) {
  const PkeyPtr authority_key = MakeKey();
  Certificates made;
  made.authority = MakeUnsigned("mock provider test CA", *authority_key, -kDay, 30 * kDay);
  X509_set_issuer_name(made.authority.get(), X509_get_subject_name(made.authority.get()));
  AddExtension(*made.authority, *made.authority, NID_basic_constraints, "critical,CA:TRUE");
  AddExtension(*made.authority, *made.authority, NID_key_usage, "critical,keyCertSign,cRLSign");
  AddExtension(*made.authority, *made.authority, NID_subject_key_identifier, "hash");
  Check(X509_sign(made.authority.get(), authority_key.get(), EVP_sha256()), "X509_sign");

  const bool wrong_host = flaw == TlsFlaw::kWrongHost;
  made.server_key = MakeKey();
  made.server = MakeUnsigned(wrong_host ? "elsewhere.invalid" : "localhost", *made.server_key,
                             -2 * kDay, flaw == TlsFlaw::kExpired ? -kDay : 30 * kDay);
  X509_set_issuer_name(made.server.get(), X509_get_subject_name(made.authority.get()));
  AddExtension(*made.server, *made.authority, NID_basic_constraints, "critical,CA:FALSE");
  AddExtension(*made.server, *made.authority, NID_ext_key_usage, "serverAuth");
  AddExtension(*made.server, *made.authority, NID_subject_alt_name,
               wrong_host ? "DNS:elsewhere.invalid" : "DNS:localhost,IP:127.0.0.1,IP:::1");
  AddExtension(*made.server, *made.authority, NID_authority_key_identifier, "keyid");
  Check(X509_sign(made.server.get(), authority_key.get(), EVP_sha256()), "X509_sign");
  return made;
}

void WritePem(const X509& certificate, const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "we");
  if (file == nullptr) {
    throw std::runtime_error("could not write \"" + path + "\"");
  }
  const int written = PEM_write_X509(file, &certificate);
  const int closed = std::fclose(file);
  if (written != 1 || closed != 0) {
    throw std::runtime_error("could not write \"" + path + "\"");
  }
}

}  // namespace ai::mock
