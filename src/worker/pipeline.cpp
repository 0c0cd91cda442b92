#include "worker/pipeline.hpp"

#include "pg/memory.hpp"
#include "worker/flow.hpp"

namespace ai::worker {

class Pipeline::Impl {
 public:
  explicit Impl(std::string lease) : memory_("ai worker turn"), flow_(std::move(lease)) {}

  WaitFor Turn() {
    const pg::TurnMemory::Turn turn(memory_);
    flow_.Receive();
    flow_.Store();
    flow_.Take();
    flow_.Send();
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

}  // namespace ai::worker
