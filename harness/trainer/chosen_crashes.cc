#include "harness/trainer/chosen_crashes.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "chaos/crash/crash_description.h"
#include "chaos/crash/crash_state_list.h"
#include "engine/text/counted.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

// Numbers of checkpoint versions before and after each named crash. A kill is
// also tried at the end of each of these versions. The versions after the crash
// matter because a checkpoint must be durable once the next one is begun.
constexpr size_t kKillsBefore = 8;
constexpr size_t kKillsAfter = 4;

// Maximum number of files that an error message names.
constexpr size_t kNamedFilesOfRun = 8;

std::string PatternText(const OperationPattern& pattern) {
  return fmt::format(
      "{}{} on {}", pattern.rank ? fmt::format("rank {}: ", *pattern.rank) : "",
      pattern.kind ? OperationKindName(*pattern.kind) : "an operation",
      pattern.path);
}

// Returns patterns of the files that the recorded run changed: "a.tmp, ckpt-*,
// 2 more".
std::string ChangedFilesText(const FilePatterns& files,
                             const Recording& recording) {
  std::set<std::string> patterns;
  for (const uint64_t number : recording.CrashPoints()) {
    const FileOperation& operation = recording.log.operations()[number - 1];
    patterns.insert(files.Of(operation.name));
    if (!operation.to.path.empty()) patterns.insert(files.Of(operation.to));
  }
  std::vector<std::string> names(patterns.begin(), patterns.end());
  if (names.size() > kNamedFilesOfRun) {
    const size_t more = names.size() - kNamedFilesOfRun;
    names.resize(kNamedFilesOfRun);
    names.push_back(fmt::format("{} more", more));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// Returns the number, in the recording, of the operation that the place names.
Result<uint64_t> FindPlace(const CrashPlace& place, const FilePatterns& files,
                           const Recording& recording) {
  uint64_t found = 0;
  for (const uint64_t number : recording.CrashPoints()) {
    const FileOperation& operation = recording.log.operations()[number - 1];
    if (!Matches(place.at, operation)) continue;
    if (++found == place.at.occurrence) return number;
  }
  if (found == 0) {
    return InvalidArgument(fmt::format(
        "{}.at: expected an operation of the recorded run, found none ({}); "
        "the run changed {}; set `file` to one of these paths below {{out}}",
        place.name, PatternText(place.at), ChangedFilesText(files, recording)));
  }
  return InvalidArgument(fmt::format(
      "{}.at.occurrence: expected {}, as the recorded run has {} ({}), found "
      "{}",
      place.name, found == 1 ? "1" : fmt::format("1 to {}", found),
      Counted(found, "such operation"), PatternText(place.at),
      place.at.occurrence));
}

class Chooser {
 public:
  Chooser(const CrashTestPlan& plan, const Recording& recording)
      : plan_(plan), recording_(recording), files_(recording.log) {}

  // Adds the crashes at a place of the plan.
  Status AddPlace(size_t index) {
    const size_t before = chosen_.size();
    RETURN_IF_ERROR(AddCrashesAt(plan_.places[index]));
    for (size_t i = before; i < chosen_.size(); ++i) chosen_[i].place = index;
    return OkStatus();
  }

  Status AddId(const std::string& id) {
    const Result<CrashState> state = ParseCrashStateId(id);
    if (state.ok() && DescribeCrashState(recording_.log, *state).ok()) {
      AddState(*state);
      return OkStatus();
    }
    for (FaultRun& run : ListFaultRuns(plan_, recording_)) {
      if (FaultRunId(run) != id) continue;
      AddFault(std::move(run));
      return OkStatus();
    }
    const std::vector<uint64_t> points = recording_.CrashPoints();
    return InvalidArgument(fmt::format(
        "--only: expected the id of a crash of this program (kill-{} to "
        "kill-{}, or another id in result.json of a test without --only), "
        "found {}",
        points.front(), points.back(), id));
  }

  // Adds a kill at the place of each named crash and at the ends of the
  // versions around it. The kills come before the named crashes, as the
  // verdicts on these depend on the kills.
  void AddKillsForJudging(const CheckpointVersions& versions) {
    const std::vector<uint64_t> ends = versions.Ends();
    std::set<uint64_t> points;
    std::set<uint64_t> named;
    for (const ChosenCrash& one : chosen_) {
      const uint64_t at =
          one.state ? one.state->operations : one.fault->operation;
      if (one.state && one.state->kind == CrashStateKind::kKill)
        named.insert(at);
      const auto after = std::ranges::upper_bound(ends, at);
      const auto before =
          std::min<std::ptrdiff_t>(kKillsBefore, after - ends.begin());
      const auto next =
          std::min<std::ptrdiff_t>(kKillsAfter, ends.end() - after);
      points.insert(at);
      points.insert(after - before, after + next);
    }
    points.erase(0);
    std::vector<ChosenCrash> kills;
    for (const uint64_t point : points) {
      if (named.contains(point)) continue;
      kills.push_back({.state = CrashState{.kind = CrashStateKind::kKill,
                                           .operations = point},
                       .fault = {},
                       .is_for_judging = true});
    }
    chosen_.insert(chosen_.begin(), kills.begin(), kills.end());
  }

  std::vector<ChosenCrash> Take() { return std::move(chosen_); }

 private:
  void AddState(const CrashState& state) {
    chosen_.push_back({.state = state, .fault = {}});
  }

  void AddFault(FaultRun run) {
    chosen_.push_back({.state = {}, .fault = std::move(run)});
  }

  Status AddCrashesAt(const CrashPlace& place) {
    ASSIGN_OR_RETURN(const uint64_t number,
                     FindPlace(place, files_, recording_));
    switch (place.fault) {
      case CrashFault::kKill:
        AddState({.kind = CrashStateKind::kKill, .operations = number});
        return OkStatus();
      case CrashFault::kTornWrite:
        return AddStatesAt(CrashStateKind::kTornWrite, number - 1, place);
      case CrashFault::kPowerLoss:
        return AddStatesAt(CrashStateKind::kPowerLoss, number, place);
      default:
        break;
    }
    std::optional<FaultRun> run =
        FaultRunAt(plan_, files_, place.fault, number);
    if (!run) {
      return InvalidArgument(fmt::format(
          "{}: expected an operation that {} can befall, found {}", place.name,
          CrashFaultName(place.fault), PatternText(place.at)));
    }
    AddFault(*std::move(run));
    return OkStatus();
  }

  Status AddStatesAt(CrashStateKind kind, uint64_t point,
                     const CrashPlace& place) {
    CrashStateList states(
        recording_.log,
        {.kinds = {kind},
         .profiles = place.profile
                         ? std::vector<DurabilityProfile>{*place.profile}
                         : plan_.profiles,
         .first_point = point,
         .last_point = point,
         .bounds = {},
         .seed = plan_.seed});
    const size_t before = chosen_.size();
    while (true) {
      ASSIGN_OR_RETURN(const std::optional<CrashState> state, states.Next());
      if (!state) break;
      AddState(*state);
    }
    if (chosen_.size() > before) return OkStatus();
    return InvalidArgument(fmt::format(
        "{}: expected an operation that a crash can leave in more than one "
        "state, found {}",
        place.name, PatternText(place.at)));
  }

  const CrashTestPlan& plan_;
  const Recording& recording_;
  const FilePatterns files_;
  std::vector<ChosenCrash> chosen_;
};

}  // namespace

bool NamesCrashes(const CrashTestPlan& plan) {
  return !plan.only.empty() || !plan.places.empty();
}

Result<std::vector<ChosenCrash>> ChooseCrashes(
    const CrashTestPlan& plan, const Recording& recording,
    const CheckpointVersions& versions) {
  Chooser chooser(plan, recording);
  for (size_t i = 0; i < plan.places.size(); ++i)
    RETURN_IF_ERROR(chooser.AddPlace(i));
  if (!plan.only.empty()) RETURN_IF_ERROR(chooser.AddId(plan.only));
  chooser.AddKillsForJudging(versions);
  return chooser.Take();
}

}  // namespace gauntlet
