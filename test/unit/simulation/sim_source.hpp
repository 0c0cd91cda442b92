// A queue of the world as one worker sees it, with everything that can happen to a step: it may be
// slow, meet a lock, or be the last thing that the worker did.
#pragma once

#include "core/json/document.hpp"
#include "core/provider/registry.hpp"
#include "unit/simulation/sim_limiter.hpp"
#include "unit/simulation/worker_state.hpp"

namespace ai::simulation {

class SimSource final : public pipeline::Source {
 public:
  SimSource(World& world, WorkerState& worker, QueueId id, SimLimiter* limiter);

  const pipeline::SourceTraits& traits() const override { return traits_; }
  pipeline::Step<pipeline::Claimed> Claim(const pipeline::ClaimRequest& request) override;
  std::span<const Tid> unread() const override { return unread_; }
  pipeline::Step<std::vector<pipeline::LoadedRow>> Load(std::size_t bytes) override;
  pipeline::Step<> ReleaseUnread(std::size_t keep) override;
  Result<pipeline::RowPtr> MakeChunks(const pipeline::LoadedRow& row) const override;
  pipeline::Step<std::int64_t> Reuse(std::span<const pipeline::RowPtr> in_progress,
                                     std::vector<pipeline::RowPtr>& rows) override;
  pipeline::Step<pipeline::Route> FindRoute() override;
  pipeline::Step<pipeline::Message> Build(std::span<const std::string_view> texts,
                                          const provider::Endpoint& endpoint) const override;
  pipeline::Step<pipeline::Stored> Store(std::span<const pipeline::RowPtr> rows) override;
  pipeline::Step<bool> IsGone(const pipeline::RowPtr& row) override;
  pipeline::Step<std::vector<pipeline::RowPtr>> StillHeld(
      std::span<const pipeline::RowPtr> rows) override;
  pipeline::Step<> Release(std::span<const pipeline::RowPtr> rows, milliseconds delay) override;
  pipeline::Step<> ReleaseAll() override;
  pipeline::Step<> Retry(std::span<const pipeline::RowPtr> rows, std::string_view step,
                         const Failure& failure) override;
  pipeline::Step<> DeadLetter(std::span<const pipeline::RowPtr> rows, std::string_view step,
                              const Failure& failure) override;

 private:
  std::optional<pipeline::StepFailure> Trouble(const char* step, bool of_tables);
  std::optional<pipeline::StepFailure> StoreTrouble(std::span<const pipeline::RowPtr> rows);
  Key KeyAt(Tid tid) const;
  bool HasEntry(Key key) const;
  WorkRow* Held(Tid tid);
  void Note(const std::string& what);
  void ClaimRow(Key key, WorkRow& row, bool anew);
  void StoreRow(Key key, const pipeline::Row& row);
  void CheckCharge(Key key, std::string_view step, const Failure& failure) const;

  World& world_;
  WorkerState& worker_;
  SimQueue& queue_;
  SimLimiter* limiter_;
  int definition_;
  pipeline::SourceTraits traits_;
  std::shared_ptr<provider::Provider> provider_;
  std::vector<Tid> unread_;
};

}  // namespace ai::simulation
