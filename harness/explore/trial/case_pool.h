// Threads that run cases, each in runners of its own.
#ifndef GAUNTLET_HARNESS_EXPLORE_TRIAL_CASE_POOL_H_
#define GAUNTLET_HARNESS_EXPLORE_TRIAL_CASE_POOL_H_

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/world/clock.h"
#include "harness/explore/trial/case_report.h"
#include "harness/explore/trial/explore_case.h"
#include "harness/explore/trial/plan_runner.h"
#include "harness/run/reference.h"

namespace gauntlet {

// The runners of one thread, one for each set-up, made when first used.
class PlanRunners {
 public:
  // `setups` and `references` must outlive this object. `cut` is passed to each
  // runner (PlanRunner::CutBy).
  PlanRunners(const std::vector<Case>& setups, References& references,
              std::function<bool()> cut = {})
      : setups_(setups), references_(references), cut_(std::move(cut)) {}
  Result<PlanRunner*> Of(size_t setup);

 private:
  const std::vector<Case>& setups_;
  References& references_;
  const std::function<bool()> cut_;
  std::map<size_t, PlanRunner> made_;
};

struct CasePoolOptions {
  int threads = 1;
  uint64_t twice_every = 0;  // every N-th case is run twice; 0: none
  // Describes a case, for the message if the program crashes in it.
  std::function<std::string(const ExploreCase&)> name_of = [](const auto& one) {
    return "case " + std::to_string(one.number);
  };
};

// Worker threads that run cases. Called from one thread only.
class CasePool {
 public:
  // REQUIRES: a runner can be made for every set-up. All arguments must outlive
  // the pool.
  CasePool(const std::vector<Case>& setups, References& references,
           const CasePoolOptions& options);
  ~CasePool();
  CasePool(const CasePool&) = delete;
  CasePool& operator=(const CasePool&) = delete;

  // Begins a round: the cases to run, in this order. REQUIRES: all reports of
  // the last round were taken, or Cut was called.
  void Begin(std::vector<ExploreCase> cases);
  // Waits for the report of a case, by its index; nullopt: not ready within
  // `patience`.
  std::optional<CaseReport> Take(size_t index, Duration patience);
  // Returns false iff Cut was called before the case began. Such a case has no
  // report.
  bool WillRun(size_t index);
  // Between Pause and Resume no case begins. Pause waits until the running
  // cases have ended, at most for `patience`. Returns true iff all have ended.
  bool Pause(Duration patience);
  void Resume();
  // Begins no more cases and aborts the running ones, whose reports have `cut`
  // set.
  void Cut();

 private:
  void Work();
  std::optional<size_t> NextIndex();

  const std::vector<Case>& setups_;
  References& references_;
  const CasePoolOptions options_;

  std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  std::vector<ExploreCase> cases_;
  std::vector<std::optional<CaseReport>> reports_;
  size_t begun_ = 0;
  size_t at_work_ = 0;
  bool paused_ = false;
  bool stopped_ = false;
  bool ended_ = false;
  std::atomic<bool> cut_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_EXPLORE_TRIAL_CASE_POOL_H_
