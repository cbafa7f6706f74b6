// Threads that run cases, each in laboratories of its own.
#ifndef GAUNTLET_HARNESS_EXPLORE_CREW_H_
#define GAUNTLET_HARNESS_EXPLORE_CREW_H_

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
#include "harness/explore/case_report.h"
#include "harness/explore/explore_case.h"
#include "harness/explore/laboratory.h"
#include "harness/run/reference.h"

namespace gauntlet {

// The laboratories of one thread, one for each set-up, made when first used.
class Laboratories {
 public:
  // Both must outlive this. `cut`: of each laboratory.
  Laboratories(const std::vector<Case>& setups, References& references,
               std::function<bool()> cut = {})
      : setups_(setups), references_(references), cut_(std::move(cut)) {}
  Result<Laboratory*> Of(size_t setup);

 private:
  const std::vector<Case>& setups_;
  References& references_;
  const std::function<bool()> cut_;
  std::map<size_t, Laboratory> made_;
};

struct CrewOptions {
  int threads = 1;
  uint64_t twice_every = 0;  // cases whose number this divides; 0: none
  // What the program is at in a case, said if it crashes there.
  std::function<std::string(const ExploreCase&)> name_of = [](const auto& one) {
    return "case " + std::to_string(one.number);
  };
};

// To be used by one thread.
class Crew {
 public:
  // A laboratory of every set-up can be had; all must outlive this.
  Crew(const std::vector<Case>& setups, References& references,
       const CrewOptions& options);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  // What is to be run next, in this order. REQUIRES: the reports of the round
  // before are taken, or Cut was called.
  void Begin(std::vector<ExploreCase> cases);
  // The report of the index-th case, once it is there; nullopt: not within
  // `patience`.
  std::optional<CaseReport> Take(size_t index, Duration patience);
  // Whether it will ever be there: Cut came before it was begun if not.
  bool WillRun(size_t index);
  // No case is begun between these. Whether those under way are finished, which
  // is to be so before anything else; waited for no longer than `patience`.
  bool Pause(Duration patience);
  void Resume();
  // No case is begun any more, and those under way are given up: their reports
  // say so.
  void Cut();

 private:
  void Work();
  std::optional<size_t> NextIndex();

  const std::vector<Case>& setups_;
  References& references_;
  const CrewOptions options_;

  std::mutex mutex_;  // of all below
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

#endif  // GAUNTLET_HARNESS_EXPLORE_CREW_H_
