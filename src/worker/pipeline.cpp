#include "worker/pipeline.hpp"

#include "pg/memory.hpp"
#include "worker/extension.hpp"
#include "worker/flow.hpp"

namespace ai::worker {

namespace {

/// All that a worker asks for is found by place or by key, and the tables it works on have no
/// statistics when they are new: the one good plan is the one by index. Groups are sorted, so that
/// rows are taken in the order of their keys, which is that of the target's index and often that of
/// the source. A commit that is lost in a crash is done again, since the rows are then still in the
/// queue or in the table of work. Who meets a lock does something else meanwhile. The rest may be
/// set otherwise for the database.
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
  explicit Impl(std::string lease) : memory_("ai pipeline turn"), flow_(std::move(lease)) {
    SetUpSession();
  }

  WaitFor Turn() {
    const pg::TurnMemory::Turn turn(memory_);
    try {
      // Providers get their next requests before this process is busy writing.
      flow_.Receive();
      flow_.Take();
      flow_.Send();
      flow_.Store();
      flow_.CountUsage();
      flow_.FreeSlots();
    } catch (const ExtensionAway&) {
      flow_.ForgetAll();
      throw;
    }
    return flow_.NextWait();
  }

  Flow& flow() { return flow_; }

 private:
  pg::TurnMemory memory_;
  Flow flow_;
};

Pipeline::Pipeline(std::string lease) : impl_(std::make_unique<Impl>(std::move(lease))) {}
Pipeline::~Pipeline() = default;

WaitFor Pipeline::Turn() {
  return impl_->Turn();
}

void Pipeline::LookAgain() {
  impl_->flow().LookAgain();
}

void Pipeline::GiveBack() {
  impl_->flow().GiveBack();
}

Tally Pipeline::TakeTally() {
  return impl_->flow().TakeTally();
}

InHand Pipeline::CountInHand() const {
  return impl_->flow().CountInHand();
}

}  // namespace ai::worker
