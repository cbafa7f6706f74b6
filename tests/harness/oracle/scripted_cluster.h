// A run of workers and their launcher, written event by event. It is for tests
// of the causes that the judge accepts for a loss or for the end of a process.
#ifndef GAUNTLET_TESTS_HARNESS_ORACLE_SCRIPTED_CLUSTER_H_
#define GAUNTLET_TESTS_HARNESS_ORACLE_SCRIPTED_CLUSTER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/record/record.h"
#include "harness/record/verdict.h"

namespace gauntlet {

// Three workers of one incarnation each; worker numbers are ranks. Heartbeats
// are 100 ms apart. A worker is given up after 1 s of silence, or after 10 s
// with nothing but heartbeats. A loss must be detected within 12 s, during a
// save within 20 s, and during a rendezvous within 30 s.
class ScriptedCluster {
 public:
  static constexpr int kWorkers = 3;
  static constexpr int64_t kMs = 1'000'000;

  // Starts all workers as generation 1, and trains two steps.
  ScriptedCluster();

  ScriptedCluster& Wait(int64_t ms);
  // All workers train the next step.
  ScriptedCluster& Step();
  // Adds the fault to the plan, and fires it.
  ScriptedCluster& Fire(int worker, RecordFault fault);
  // The worker reports that it gives up a rank. `limit_ms`: the time limit that
  // it states.
  ScriptedCluster& GivesUp(int worker, int rank, RecordReason reason,
                           int64_t limit_ms);
  ScriptedCluster& Emits(int worker, RecordEvent event);
  // The worker leaves with the exit code for a lost worker, and its process
  // ends.
  ScriptedCluster& Leaves(int worker, RecordReason reason);
  // The worker's process ends, and its launcher detects this.
  ScriptedCluster& IsKilled(int worker);
  ScriptedCluster& EndsWith(int worker, int exit_code);
  ScriptedCluster& LauncherKills(int worker);
  // The launcher gives up the worker, after `limit_ms` without a sign of it.
  ScriptedCluster& LauncherGivesUp(int worker, int64_t limit_ms);
  // All remaining workers finish and exit.
  ScriptedCluster& Finish();

  Record& record() { return record_; }
  // Returns the names of the findings against the invariant.
  std::vector<std::string> Violations(std::string_view invariant) const;

 private:
  std::vector<RecordEvent>& EventsOf(int worker);
  void Emit(std::vector<RecordEvent>& events, RecordEvent event);
  void EmitExit(int worker, int64_t code, RecordReason reason);
  bool IsRunning(int worker) const {
    return running_[static_cast<size_t>(worker)];
  }

  Record record_;
  int64_t now_ns_ = 1;
  uint64_t order_ = 0;
  uint64_t step_ = 0;
  std::vector<bool> running_ = std::vector<bool>(kWorkers, true);
};

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_HARNESS_ORACLE_SCRIPTED_CLUSTER_H_
