// tls.cpp: the TLS server side.
#include "mock/tls.hpp"

#include <openssl/err.h>
#include <sys/socket.h>

#include <algorithm>
#include <climits>
#include <stdexcept>

namespace ai::mock {

namespace {

void Require(bool success, const std::string& what) {
  if (!success) {
    throw std::runtime_error(what + ": " + ERR_error_string(ERR_get_error(), nullptr));
  }
}

constexpr unsigned char kProtocols[] = "\x08http/1.1";

// HTTP/1.1 is all that is spoken here; a client that offers more is told so, one that offers only
// something else is refused, as real servers do.
int SelectProtocol(SSL* /*ssl*/, const unsigned char** out, unsigned char* out_size,
                   const unsigned char* offered, unsigned int offered_size, void* /*argument*/) {
  const int selected = SSL_select_next_proto(const_cast<unsigned char**>(out), out_size, kProtocols,
                                             sizeof(kProtocols) - 1, offered, offered_size);
  return selected == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

class TlsStream : public Stream {
 public:
  TlsStream(SSL_CTX* context, int socket) : socket_(socket), ssl_(SSL_new(context)) {
    Require(ssl_ != nullptr && SSL_set_fd(ssl_.get(), socket) == 1, "SSL_new");
    SSL_set_accept_state(ssl_.get());
  }

  IoResult Read(char* into, size_t size) override {
    ERR_clear_error();
    return ResultOf(SSL_read(ssl_.get(), into, Clip(size)));
  }

  IoResult Write(std::string_view data) override {
    ERR_clear_error();
    return ResultOf(SSL_write(ssl_.get(), data.data(), Clip(data.size())));
  }

  void Finish() override {
    ERR_clear_error();
    if (!failed_ && SSL_is_init_finished(ssl_.get()) == 1) {
      SSL_shutdown(ssl_.get());
    }
    shutdown(socket_, SHUT_WR);
  }

  bool failed_handshake() const override {
    return failed_ && SSL_is_init_finished(ssl_.get()) != 1;
  }

 private:
  struct Deleter {
    void operator()(SSL* x) const { SSL_free(x); }
  };

  static int Clip(size_t size) { return static_cast<int>(std::min<size_t>(size, INT_MAX)); }

  IoResult ResultOf(int count) {
    if (count > 0) {
      return {IoStatus::kOk, static_cast<size_t>(count)};
    }
    switch (SSL_get_error(ssl_.get(), count)) {
      case SSL_ERROR_WANT_READ:
      case SSL_ERROR_WANT_WRITE:
        return {IoStatus::kWouldBlock};
      case SSL_ERROR_ZERO_RETURN:
        return {IoStatus::kEnd};
      default:
        // INVARIANT: after this no SSL_shutdown: OpenSSL forbids it once a connection has failed.
        failed_ = true;
        return {IoStatus::kFailed};
    }
  }

  int socket_;
  std::unique_ptr<SSL, Deleter> ssl_;
  bool failed_ = false;
};

}  // namespace

TlsContext::TlsContext() : context_(SSL_CTX_new(TLS_server_method())) {
  Require(context_ != nullptr, "SSL_CTX_new");
  SSL_CTX_set_min_proto_version(context_.get(), TLS1_2_VERSION);
  SSL_CTX_set_mode(context_.get(), SSL_MODE_ENABLE_PARTIAL_WRITE |
                                       SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                       SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_alpn_select_cb(context_.get(), SelectProtocol, nullptr);
}

TlsContext::TlsContext(const std::string& certificate_file, const std::string& key_file)
    : TlsContext() {
  Require(SSL_CTX_use_certificate_chain_file(context_.get(), certificate_file.c_str()) == 1,
          "could not read \"" + certificate_file + "\"");
  Require(SSL_CTX_use_PrivateKey_file(context_.get(), key_file.c_str(), SSL_FILETYPE_PEM) == 1,
          "could not read \"" + key_file + "\"");
  Require(SSL_CTX_check_private_key(context_.get()) == 1, "key and certificate do not match");
}

TlsContext::TlsContext(const Certificates& certificates) : TlsContext() {
  Require(SSL_CTX_use_certificate(context_.get(), certificates.server.get()) == 1,
          "SSL_CTX_use_certificate");
  Require(SSL_CTX_use_PrivateKey(context_.get(), certificates.server_key.get()) == 1,
          "SSL_CTX_use_PrivateKey");
}

std::unique_ptr<Stream> TlsContext::MakeStream(int socket) const {
  return std::make_unique<TlsStream>(context_.get(), socket);
}

}  // namespace ai::mock
