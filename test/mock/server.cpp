// server.cpp: the whole: listeners, workers and their threads.
#include "mock/server.hpp"

#include <string>

#include "mock/certificate.hpp"
#include "mock/tls.hpp"

namespace ai::mock {

namespace {

Settings InitialSettings(const Options& options) {
  return options.settings.empty() ? Settings{} : ParseSettings(options.settings, {});
}

std::unique_ptr<const TlsContext> MakeTls(const Options& options) {
  if (!options.tls()) {
    return nullptr;
  }
  if (!options.tls_certificate.empty()) {
    return std::make_unique<const TlsContext>(options.tls_certificate, options.tls_key);
  }
  const Certificates certificates = MakeCertificates(options.tls_flaw);
  WritePem(*certificates.authority, options.tls_directory + "/ca.pem");
  return std::make_unique<const TlsContext>(certificates);
}

}  // namespace

Server::Server(const Options& options) : context_(InitialSettings(options)) {
  context_.tls = MakeTls(options);
  if (!options.rules.empty()) {
    context_.rules.Set(ParseRules(options.rules));
  }
  for (unsigned i = 0; i < options.threads; ++i) {
    workers_.push_back(std::make_unique<Worker>(context_));
  }
  plain_ = MakeListener(options, options.port, Door::kPlain);
  control_ = MakeListener(options, options.control_port, Door::kControl);
  if (options.tls()) {
    tls_ = MakeListener(options, options.tls_port, Door::kTls);
  }
  // INVARIANT: all workers exist and have their listeners before the first thread runs.
  for (const std::unique_ptr<Worker>& worker : workers_) {
    threads_.emplace_back([&worker] { worker->Run(); });
  }
}

std::unique_ptr<Listener> Server::MakeListener(const Options& options, uint16_t port, Door door) {
  auto listener = std::make_unique<Listener>(options.host, port, door, workers_);
  workers_.front()->ApplyAdvertised(listener->socket(),
                                    [raw = listener.get()] { raw->AcceptAll(); });
  return listener;
}

Server::~Server() {
  for (const std::unique_ptr<Worker>& worker : workers_) {
    worker->Stop();
  }
  for (std::thread& thread : threads_) {
    thread.join();
  }
}

std::optional<uint16_t> Server::tls_port() const {
  return tls_ == nullptr ? std::nullopt : std::optional<uint16_t>(tls_->port());
}

}  // namespace ai::mock
