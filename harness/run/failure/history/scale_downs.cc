#include "harness/run/failure/history/scale_downs.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <set>
#include <utility>

#include "engine/restart_limits.h"
#include "harness/record/text/number_list.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

// Returns true iff the scenario plans an attempt with `workers` workers.
bool IsPlanned(const RunSetup& setup, size_t workers) {
  return std::ranges::find(setup.workers_per_attempt,
                           static_cast<int>(workers)) !=
         setup.workers_per_attempt.end();
}

// Returns the rule by which the launcher left these workers out and started
// `remaining` ones.
std::string RuleOfScaleDown(const RunSetup& setup,
                            const std::set<uint64_t>& left_out,
                            size_t remaining) {
  if (setup.min_workers == 0 || IsPlanned(setup, remaining)) {
    return fmt::format("as cluster.workers_per_attempt ([{}]) plans it",
                       fmt::join(setup.workers_per_attempt, ", "));
  }
  return fmt::format(
      "as {} had failed {} times in a row and cluster.min_workers is {}",
      NumberedText("worker", left_out), kFailuresToExclude, setup.min_workers);
}

// Compares the workers of each attempt with those of the attempt before.
class ScaleDownFinder {
 public:
  explicit ScaleDownFinder(const RunSetup& setup) : setup_(setup) {}

  void Start(int worker) { workers_.insert(static_cast<uint64_t>(worker)); }

  void EndAttempt() {
    if (workers_.empty()) return;
    ++attempt_;
    if (workers_.size() < before_.size()) Add();
    before_ = std::move(workers_);
    workers_.clear();
  }

  std::vector<std::string> Take() && { return std::move(texts_); }

 private:
  void Add() {
    std::set<uint64_t> left_out;
    std::ranges::set_difference(before_, workers_,
                                std::inserter(left_out, left_out.end()));
    texts_.push_back(fmt::format(
        "the launcher scaled the cluster down from {} workers to {} (attempt "
        "{}), {}",
        before_.size(), workers_.size(), attempt_,
        RuleOfScaleDown(setup_, left_out, workers_.size())));
  }

  const RunSetup& setup_;
  std::set<uint64_t> before_;   // workers of the attempt before
  std::set<uint64_t> workers_;  // of this attempt
  size_t attempt_ = 0;
  std::vector<std::string> texts_;
};

}  // namespace

std::vector<std::string> ScaleDownTexts(const Record& record) {
  const RunSetup& setup = record.setup;
  if (setup.min_workers == 0 && setup.workers_per_attempt.empty()) return {};
  ScaleDownFinder finder(setup);
  for (const LauncherRun& run : record.launchers) {
    for (const RecordEvent& event : run.events) {
      if (event.kind == RecordKind::kStarted && event.about) {
        finder.Start(*event.about);
      }
      if (event.kind == RecordKind::kAttemptEnds) finder.EndAttempt();
    }
    finder.EndAttempt();
  }
  return std::move(finder).Take();
}

}  // namespace gauntlet
