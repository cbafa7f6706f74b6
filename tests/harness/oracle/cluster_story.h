// A run of workers and their launcher, told event by event, for tests of what
// explains an end or a loss.
#ifndef GAUNTLET_TESTS_HARNESS_ORACLE_CLUSTER_STORY_H_
#define GAUNTLET_TESTS_HARNESS_ORACLE_CLUSTER_STORY_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/record/record.h"
#include "harness/record/verdict.h"

namespace gauntlet {

// Three workers of one incarnation each; ranks are workers. A heartbeat every
// 100 ms; who is silent for 1 s is given up, and so is who does nothing else
// for 10 s; a loss is noticed within 12 s, in a save within 20 s.
class ClusterStory {
 public:
  static constexpr int kWorkers = 3;
  static constexpr int64_t kMs = 1'000'000;

  // All are started, meet as generation 1, and train two steps.
  ClusterStory();

  ClusterStory& Wait(int64_t ms);
  // All take the next step.
  ClusterStory& Step();
  // The plan has the fault, and it fires.
  ClusterStory& Fire(int worker, RecordFault fault);
  // The worker gives a rank up, after so long at the most.
  ClusterStory& GivesUp(int worker, int rank, RecordReason reason,
                        int64_t limit_ms);
  ClusterStory& Says(int worker, RecordEvent event);
  // It leaves with the code of a lost worker, and is gone.
  ClusterStory& Leaves(int worker, RecordReason reason);
  // It is gone; its launcher sees it.
  ClusterStory& IsKilled(int worker);
  ClusterStory& EndsWith(int worker, int exit_code);
  ClusterStory& LauncherKills(int worker);
  // The launcher has no sign of the worker for that long.
  ClusterStory& LauncherGivesUp(int worker, int64_t limit_ms);
  // All that are there finish and go.
  ClusterStory& Finish();

  Record& record() { return record_; }
  // Names of the findings against the invariant.
  std::vector<std::string> Violations(std::string_view invariant) const;

 private:
  std::vector<RecordEvent>& EventsOf(int worker);
  void Say(std::vector<RecordEvent>& events, RecordEvent event);
  void Gone(int worker, int64_t code, RecordReason reason);
  bool IsThere(int worker) const { return there_[static_cast<size_t>(worker)]; }

  Record record_;
  int64_t now_ns_ = 1;
  uint64_t order_ = 0;
  uint64_t step_ = 0;
  std::vector<bool> there_ = std::vector<bool>(kWorkers, true);
};

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_HARNESS_ORACLE_CLUSTER_STORY_H_
