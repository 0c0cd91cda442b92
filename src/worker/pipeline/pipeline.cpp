#include "worker/pipeline/pipeline.hpp"

#include "pg/guard.hpp"
#include "pg/memory.hpp"
#include "pg/settings.hpp"
#include "pg/settings_transport.hpp"
#include "worker/pipeline/backlog.hpp"
#include "worker/pipeline/local_model.hpp"
#include "worker/pipeline/peers.hpp"
#include "worker/process/child.hpp"
#include "worker/process/extension.hpp"
#include "worker/process/liveness.hpp"

namespace ai::worker {

using std::chrono::milliseconds;

namespace {

/// Re-creates the transport when its settings have changed and no request is in flight.
class WorkerTransport final : public http::Transport {
 public:
  void FollowSettings() { transport_.FollowSettings(); }

  http::RequestId Submit(http::Request request) override {
    return transport_.get().Submit(std::move(request));
  }
  void Drive() override { transport_.get().Drive(); }
  http::WaitHint NextWait() const override { return transport_.get().NextWait(); }
  bool Poll(milliseconds at_most, int wake_fd) override {
    return transport_.get().Poll(at_most, wake_fd);
  }
  std::vector<http::Completion> Collect() override { return transport_.get().Collect(); }
  bool Cancel(http::RequestId id) override { return transport_.get().Cancel(id); }
  void CancelAll() override { transport_.get().CancelAll(); }
  std::size_t in_flight() const override { return transport_.get().in_flight(); }
  void Recycle(std::string&& body) override { transport_.get().Recycle(std::move(body)); }

 private:
  mutable pg::SettingsTransport transport_;
};

pg_uuid_t UuidOf(const std::string& text) {
  return *DatumGetUUIDP(
      pg::Call([&] { return DirectFunctionCall1(uuid_in, CStringGetDatum(text.c_str())); }));
}

pipeline::Settings CurrentSettings() {
  return {.max_in_flight = static_cast<std::size_t>(pg::settings.max_in_flight),
          .workers = pg::settings.workers,
          .number = MyNumber(),
          .poll_interval = milliseconds(pg::settings.poll_interval),
          .heartbeat_interval = HeartbeatInterval(),
          .breaker_pause = milliseconds(pg::settings.breaker_pause)};
}

/// Workers look rows up by tid or by key, and their tables have no statistics when they are new:
/// the one good plan uses the index. Grouping sorts, so that rows come in key order, which is that
/// of the target's index and often that of the source. A commit lost in a crash is repeated, since
/// the rows are then still in the queue or in the work table. A worker that meets a lock does
/// something else meanwhile. The other settings may have been changed for the database.
void SetUpSession() {
  constexpr std::pair<const char*, const char*> kSettings[] = {
      {"enable_seqscan", "off"},
      {"enable_hashjoin", "off"},
      {"enable_mergejoin", "off"},
      {"enable_material", "off"},
      {"enable_memoize", "off"},
      {"enable_bitmapscan", "off"},
      {"enable_hashagg", "off"},
      {"jit", "off"},
      {"synchronous_commit", "off"},
      {"lock_timeout", "200ms"},
      {"default_transaction_isolation", "read committed"},
      {"default_transaction_read_only", "off"},
      {"row_security", "on"},
      {"search_path", "pg_catalog, pg_temp"},
  };
  pg::Call([&] {
    for (const auto& [name, value] : kSettings) {
      SetConfigOption(name, value, PGC_USERSET, PGC_S_SESSION);
    }
  });
}

}  // namespace

class Pipeline::Impl {
 public:
  explicit Impl(std::string lease)
      : memory_("ai pipeline turn"),
        lease_(UuidOf(lease)),
        backlog_(std::move(lease), {lease_, limiters_}, tables_),
        peers_(tables_),
        pipeline_({.clock = clock_,
                   .random = random_,
                   .settings = settings_,
                   .transport = transport_,
                   .backlog = backlog_,
                   .peers = peers_,
                   .model = model_,
                   .interrupt = pg::ServeInterrupts}) {
    SetUpSession();
  }

  WaitFor Turn() {
    const pg::TurnMemory::Turn turn(memory_);
    settings_ = CurrentSettings();
    if (limiters_.Follow()) {
      pipeline_.EndBackOffs();
    }
    if (pipeline_.CountInProgress().requests == 0) {
      transport_.FollowSettings();
    }
    try {
      pipeline_.Turn();
    } catch (const ExtensionUnavailable&) {
      pipeline_.ForgetAll();
      throw;
    }
    limiters_.Write();
    return NextWait();
  }

  pipeline::Pipeline& get() { return pipeline_; }

 private:
  WaitFor NextWait() {
    const http::WaitHint hint = transport_.NextWait();
    const milliseconds wait = pipeline_.NextWait(settings_.poll_interval);
    return {pipeline_.CountInProgress().requests == 0 ? -1 : hint.fd,
            std::min(wait, hint.timeout.value_or(wait))};
  }

  pg::TurnMemory memory_;
  pg_uuid_t lease_;
  SystemClock clock_;
  SystemRandom random_;
  pipeline::Settings settings_ = CurrentSettings();
  WorkerTransport transport_;
  EndpointLimiters limiters_{clock_};
  QueueTables tables_;
  DatabaseBacklog backlog_;
  WorkerPeers peers_;
  LocalModel model_;
  pipeline::Pipeline pipeline_;
};

Pipeline::Pipeline(std::string lease) : impl_(std::make_unique<Impl>(std::move(lease))) {}
Pipeline::~Pipeline() = default;

WaitFor Pipeline::Turn() {
  return impl_->Turn();
}

void Pipeline::Notify(const QueueEvents& events) {
  if (events.everything) {
    impl_->get().NotifyAll();
  }
  impl_->get().Notify(events.queues);
  if (events.jobs) {
    impl_->get().Notify(std::span(&pg::kJobs, 1));
  }
}

void Pipeline::Stop() {
  constexpr milliseconds kStoring{200};
  impl_->get().Stop(kStoring);
}

pipeline::Tally Pipeline::TakeTally() {
  return impl_->get().TakeTally();
}

pipeline::InProgress Pipeline::CountInProgress() const {
  return impl_->get().CountInProgress();
}

bool Pipeline::IsIdle() const {
  const pipeline::InProgress in_progress = CountInProgress();
  return in_progress.rows == 0 && in_progress.requests == 0;
}

}  // namespace ai::worker
