// A worker of the simulation: the real pipeline on a world of its making.
#pragma once

#include "unit/simulation/sim_provider.hpp"
#include "unit/simulation/sim_source.hpp"

namespace ai::simulation {

class SimBacklog final : public pipeline::Backlog {
 public:
  SimBacklog(World& world, WorkerState& worker);

  pipeline::PollResult Poll(const pipeline::PollRequest& request) override;
  pipeline::Step<std::unique_ptr<pipeline::Source>> Open(QueueId queue) override;
  void Closed(QueueId /*queue*/) override {}
  pipeline::Step<> AddUsage(QueueId queue, const std::string& model,
                            const pipeline::Usage& usage) override;
  pipeline::Step<> RecordError(QueueId queue, std::string_view step,
                               const Failure& failure) override;
  pipeline::Step<> RecordOpenBreaker(QueueId queue, const pipeline::Opening& opening) override;

 private:
  pipeline::QueueReport Report(const SimQueue& queue, bool suspects) const;

  World& world_;
  WorkerState& worker_;
  std::deque<SimLimiter> limiters_;
};

class SimPeers final : public pipeline::Peers {
 public:
  SimPeers(World& world, WorkerState& worker) : world_(world), worker_(worker) {}
  ~SimPeers() override;

  std::size_t KeepRequests(QueueId queue, std::size_t wanted, std::size_t limit) override;
  bool EnterIsolation() override;
  void LeaveIsolation() override;
  std::uint32_t Crashes() const override { return world_.crash_count; }
  bool IsSlow(OwnerId owner) const override { return world_.slow_owners.contains(owner); }
  bool HasSlowOwners() const override { return !world_.slow_owners.empty(); }
  bool BeginFullPoll(milliseconds interval) override;
  void Share(QueueId queue) override { world_.events.insert(queue); }

 private:
  World& world_;
  WorkerState& worker_;
};

class SimModel final : public pipeline::EmbeddedModel {
 public:
  explicit SimModel(World& world) : world_(world) {}

  void Start(const pipeline::SourceTraits& source, std::span<const std::string_view> texts,
             provider::Embeddings& out) override;
  pipeline::Step<bool> Advance() override;
  std::size_t DropUnstarted() override {
    texts_.resize(done_);
    return done_;
  }
  std::int64_t truncated() const override { return 0; }

 private:
  World& world_;
  std::vector<std::string> texts_;
  provider::Embeddings* out_ = nullptr;
  std::size_t done_ = 0;
};

class SimWorker final {
 public:
  SimWorker(World& world, WorkerId lease, pipeline::Settings settings, Defect defect);

  /// One turn; the time of the next is known afterwards. Throws Crash, Violation.
  void Turn();
  void Stop();
  void Notify(std::span<const pipeline::QueueEvent> events);
  void NotifyAll();

  /// What it has in hand, and what it waits for.
  std::string Explain() const;

  SteadyTime next_turn() const { return next_turn_; }
  WorkerId lease() const { return state_.lease; }
  const pipeline::Pipeline& pipeline() const { return pipeline_; }

 private:
  void CheckBounds() const;

  World& world_;
  WorkerState state_;
  pipeline::Settings settings_;
  test::FakeTransport transport_;
  SimBacklog backlog_;
  SimPeers peers_;
  SimModel model_;
  pipeline::Pipeline pipeline_;
  SteadyTime next_turn_;
  int idle_turns_ = 0;  // in a row, without a step and without a wait
};

}  // namespace ai::simulation
