// One history of faults, from one seed: several workers, a shared database, providers, users and
// administrators, on a clock that only the simulation moves. At the end all is well for long
// enough, and every row must be where it belongs.
#pragma once

#include <memory>

#include "unit/simulation/sim_worker.hpp"

namespace ai::simulation {

struct Result {
  std::string violation;  // empty: none
  std::vector<std::string> history;
  Counts counts;
};

class Simulator final {
 public:
  explicit Simulator(std::uint64_t seed, Defect defect = Defect::kNone);

  Result Run();

 private:
  struct WorkerSlot {
    std::unique_ptr<SimWorker> worker;  // null: it is gone
    WorkerId lease = 0;
    SteadyTime restart_at = {};
    bool died = false;  // and its rows are not released yet
  };

  void BuildWorld();
  void RunUntil(SteadyTime end);
  void RunUntilDone();
  void RunTurn(WorkerSlot& slot);
  void Restart(WorkerSlot& slot);
  void Deliver();
  SteadyTime NextTurn() const;
  void UserActs();
  void FaultActs();
  void EndFaults();
  void CheckAges();
  void CheckNothingIsKept(const SimWorker& worker) const;
  SimQueue& AnyQueue();
  Key AnyKey();

  World world_;
  Defect defect_;
  int workers_;
  std::vector<WorkerSlot> slots_;
  WorkerId last_lease_ = 0;
  SteadyTime next_act_ = {};
  SimQueue* flooded_ = nullptr;  // it always has work
};

}  // namespace ai::simulation
