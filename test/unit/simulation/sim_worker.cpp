#include "unit/simulation/sim_worker.hpp"

#include <algorithm>

namespace ai::simulation {
namespace {

using pipeline::Step;
using pipeline::StepError;
using pipeline::StepFailure;

constexpr QueueId kSlice = 2;

}  // namespace

SimBacklog::SimBacklog(World& world, WorkerState& worker) : world_(world), worker_(worker) {
  for (std::size_t i = 0; i < world.providers.size(); ++i) {
    limiters_.emplace_back(world, i, worker);
  }
}

pipeline::QueueReport SimBacklog::Report(const SimQueue& queue, bool suspects) const {
  pipeline::QueueReport report{.id = queue.id,
                               .version = std::to_string(queue.definition),
                               .owner = queue.owner,
                               .priority = queue.priority,
                               .granted = queue.priority};
  if (world_.Fault("queue locked while it is polled", 0.01)) {
    report.locked = true;
    return report;
  }
  const SteadyTime now = world_.now();
  const auto in = [now](SteadyTime time) {
    return std::max(milliseconds(0), std::chrono::ceil<milliseconds>(time - now));
  };
  if (!queue.entries.empty()) {
    report.first_change = Tid{};
  }
  for (const auto& [key, work] : queue.work) {
    if (work.lease == 0 && (work.crashes == 0 || suspects)) {
      auto& due = work.crashes == 0 ? report.retry_in : report.suspect_in;
      due = std::min(due.value_or(in(work.retry_at)), in(work.retry_at));
    }
  }
  if (queue.paused_until > now) {
    report.pause_left = in(queue.paused_until);
  }
  return report;
}

pipeline::PollResult SimBacklog::Poll(const pipeline::PollRequest& request) {
  StepScope scope(world_, worker_, "poll");
  if (world_.Fault("catalog locked", 0.01)) {
    return {.locked = true, .named = {request.events.begin(), request.events.end()}};
  }
  int highest = -1'000'000;
  for (const SimQueue& queue : world_.queues) {
    const bool has_work = !queue.dropped && !queue.disabled && !queue.entries.empty();
    highest = has_work ? std::max(highest, queue.priority) : highest;
  }
  pipeline::PollResult result;
  for (const SimQueue& queue : world_.queues) {
    const auto contains = [&queue](const auto& ids) {
      return std::find(ids.begin(), ids.end(), static_cast<pipeline::QueueEvent>(queue.id)) !=
             ids.end();
    };
    const bool wanted = request.queues ? contains(request.events) || contains(*request.queues)
                                       : queue.id > request.after;
    if (queue.dropped || queue.disabled || !wanted) {
      continue;
    }
    if (!request.queues && result.queues.size() == kSlice) {
      result.complete = false;
      break;
    }
    result.queues.push_back(Report(queue, request.suspects));
    if (worker_.defect == Defect::kStarvation && queue.priority < highest) {
      result.queues.back().first_change.reset();
    }
  }
  scope.End();
  return result;
}

Step<std::unique_ptr<pipeline::Source>> SimBacklog::Open(QueueId id) {
  StepScope scope(world_, worker_, "open");
  const SimQueue* queue = world_.Find(id);
  if (queue == nullptr) {
    return StepFailure(StepError::kDropped, "the queue was dropped");
  }
  if (world_.Fault("configuration cannot be used", 0.003)) {
    return StepFailure(StepError::kUnusable, "no such thing");
  }
  scope.End();
  SimLimiter* limiter =
      queue->local ? nullptr : &limiters_[static_cast<std::size_t>(queue->provider)];
  return std::unique_ptr<pipeline::Source>(
      std::make_unique<SimSource>(world_, worker_, id, limiter));
}

Step<> SimBacklog::AddUsage(QueueId /*queue*/, const std::string& /*model*/,
                            const pipeline::Usage& /*usage*/) {
  StepScope scope(world_, worker_, "add usage");
  if (world_.Fault("counters locked", 0.05)) {
    return StepFailure(StepError::kRowLocked, "locked");
  }
  scope.End();
  return {};
}

Step<> SimBacklog::RecordError(QueueId queue, std::string_view step, const Failure& failure) {
  StepScope scope(world_, worker_, "record error");
  world_.Note("queue " + std::to_string(queue) + " cannot go on with " + std::string(step) + ": " +
              failure.message);
  return {};
}

Step<> SimBacklog::RecordOpenBreaker(QueueId /*queue*/, const pipeline::Opening& /*opening*/) {
  return {};
}

SimPeers::~SimPeers() {
  LeaveIsolation();
  for (SimQueue& queue : world_.queues) {
    queue.kept.erase(worker_.lease);
  }
}

std::size_t SimPeers::KeepRequests(QueueId id, std::size_t wanted, std::size_t limit) {
  SimQueue* queue = &world_.queues[static_cast<std::size_t>(id - 1)];
  std::size_t others = 0;
  for (const auto& [worker, count] : queue->kept) {
    others += worker == worker_.lease ? 0 : count;
  }
  std::size_t& mine = queue->kept[worker_.lease];
  if (worker_.defect == Defect::kLeakedPermit) {
    wanted = std::max(wanted, limit);
  }
  const std::size_t left = limit > others ? limit - others : 0;
  mine = worker_.defect == Defect::kLeakedPermit ? std::max(mine, left)
                                                 : std::min(wanted, std::max(left, mine));
  return std::min(wanted, mine);
}

bool SimPeers::EnterIsolation() {
  if (world_.isolating != 0 && world_.isolating != worker_.lease) {
    return false;
  }
  world_.isolating = worker_.lease;
  return true;
}

void SimPeers::LeaveIsolation() {
  if (world_.isolating == worker_.lease) {
    world_.isolating = 0;
  }
}

bool SimPeers::BeginFullPoll(milliseconds interval) {
  if (world_.now() < world_.last_full_poll + interval) {
    return false;
  }
  world_.last_full_poll = world_.now();
  return true;
}

void SimModel::Start(const pipeline::SourceTraits& /*source*/,
                     std::span<const std::string_view> texts, provider::Embeddings& out) {
  texts_.assign(texts.begin(), texts.end());
  out_ = &out;
  done_ = 0;
}

Step<bool> SimModel::Advance() {
  if (done_ == texts_.size()) {
    return true;
  }
  world_.clock.Advance(milliseconds(10));
  world_.Count("slice of the embedded model");
  const auto vector = VectorFor(texts_[done_]);
  std::copy(vector.begin(), vector.end(),
            out_->values.begin() + static_cast<std::ptrdiff_t>(done_ * kDimensions));
  return ++done_ == texts_.size();
}

SimWorker::SimWorker(World& world, WorkerId lease, pipeline::Settings settings, Defect defect)
    : world_(world),
      state_{.lease = lease, .defect = defect},
      settings_(settings),
      transport_(world.clock),
      backlog_(world, state_),
      peers_(world, state_),
      model_(world),
      pipeline_({.clock = world.clock,
                 .random = world.random,
                 .settings = settings_,
                 .transport = transport_,
                 .backlog = backlog_,
                 .peers = peers_,
                 .model = model_}),
      next_turn_(world.now()) {
  transport_.SetResponder(
      [this](const http::Request& request) { return Answer(world_, state_, request); });
}

void SimWorker::Notify(std::span<const pipeline::QueueEvent> events) {
  pipeline_.Notify(events);
  next_turn_ = std::min(next_turn_, world_.now());
}

void SimWorker::NotifyAll() {
  pipeline_.NotifyAll();
  next_turn_ = std::min(next_turn_, world_.now());
}

void SimWorker::Turn() {
  const std::uint64_t steps = state_.steps;
  const std::size_t requests = transport_.requests().size();
  const std::size_t answered = transport_.in_flight();
  const SteadyTime start = world_.now();
  state_.steps_of_turn = 0;
  pipeline_.Turn();
  CheckBounds();
  const milliseconds wait = pipeline_.NextWait(settings_.poll_interval);
  const auto hint = transport_.NextWait();
  const milliseconds next = std::min(wait, hint.timeout.value_or(wait));
  const bool progress = state_.steps != steps || transport_.requests().size() != requests ||
                        transport_.in_flight() != answered || world_.now() != start;
  idle_turns_ = progress || next > milliseconds(0) ? 0 : idle_turns_ + 1;
  if (idle_turns_ > 3) {
    throw Violation("worker " + std::to_string(state_.lease) +
                    " turns without progress and without a wait");
  }
  // It sleeps a little longer than it has to, each time.
  const std::chrono::microseconds late(next > milliseconds(0) ? world_.random.Below(3000) : 0);
  next_turn_ = world_.now() + next + late;
}

std::string SimWorker::Explain() const {
  const SteadyTime now = world_.now();
  const auto in = [now](SteadyTime time) {
    return time == pipeline::kNever
               ? std::string("never")
               : std::to_string(std::chrono::duration_cast<milliseconds>(time - now).count());
  };
  std::string text = "worker " + std::to_string(state_.lease) + ", next poll in " +
                     in(pipeline_.NextPoll()) +
                     (pipeline_.planner().isolating() ? ", isolating" : "");
  for (const auto& [id, queue] : pipeline_.queues()) {
    const pipeline::Plan plan = pipeline_.planner().For(queue, now);
    text += "\n  queue " + std::to_string(id) + ": claim " + in(plan.claim) + ", suspects " +
            in(plan.suspects) + ", send " + in(plan.send) + ", store " + in(plan.store) +
            ", report " + in(plan.report) + "; rows " + std::to_string(queue.held.rows().size()) +
            ", unsent " + std::to_string(queue.outbox.unsent()) + ", delayed " +
            std::to_string(queue.outbox.delayed().size()) + ", in flight " +
            std::to_string(queue.outbox.in_flight()) + ", kept " +
            std::to_string(queue.outbox.kept_requests) +
            (queue.source == nullptr ? ", closed" : "") +
            (queue.must_release ? ", must release" : "") +
            (queue.demand.has_changes() ? ", changes" : "");
  }
  return text;
}

void SimWorker::CheckBounds() const {
  std::size_t most = settings_.max_in_flight + 4 * world_.providers.size() + 4;
  if (transport_.in_flight() > most) {
    throw Violation("too many requests in flight");
  }
  if (pipeline_.queues().memory().bytes > pipeline::kMaxHeldBytes + 2 * pipeline::kMaxLoadBytes) {
    throw Violation("too much memory");
  }
}

void SimWorker::Stop() {
  pipeline_.Stop(milliseconds(400));
}

}  // namespace ai::simulation
