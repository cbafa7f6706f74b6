#include "harness/cli/explore/not_tried.h"

#include <string>
#include <string_view>

#include "engine/text/counted.h"
#include "harness/cli/explore/explore_gaps.h"
#include "harness/explore/trial/explore_case.h"
#include "reports/html/page/text.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

class UntriedList {
 public:
  // Adds a row such as "kind crash" or "kinds crash, hang"; adds none if
  // `names` is empty.
  void AddNames(std::string_view noun,
                const std::vector<std::string_view>& names,
                const std::string& why) {
    if (names.empty()) return;
    Add(fmt::format("{}{} {}", noun, names.size() == 1 ? "" : "s",
                    fmt::join(names, ", ")),
        why);
  }
  void Add(std::string what, std::string why) {
    rows_.push_back({.what = std::move(what), .why = std::move(why)});
  }
  std::vector<NotTried> Take() { return std::move(rows_); }

 private:
  std::vector<NotTried> rows_;
};

void AddKinds(const Exploration& exploration, const CampaignReport& report,
              UntriedList& list) {
  std::vector<std::string_view> not_chosen;
  std::vector<std::string_view> apart;
  std::vector<std::string_view> of_device;
  for (const FaultKindInfo& info : AllFaultKinds()) {
    if (report.space.Has(info.kind)) continue;
    if (CanHappenTo(info.kind, exploration.base)) {
      not_chosen.push_back(info.name);
    } else {
      (IsNetworkFault(info.kind) ? apart : of_device).push_back(info.name);
    }
  }
  list.AddNames("kind", not_chosen, "not among those of --kinds");
  list.AddNames("kind", apart, "the base has one worker");
  list.AddNames("kind", of_device,
                "the base has no device: cluster.device is not emulated");
  list.AddNames("kind", MissedKinds(report),
                "no case had a fault of the kind that fired");
}

void AddPoints(const Exploration& exploration, const CampaignReport& report,
               UntriedList& list) {
  std::vector<std::string_view> others;
  for (const PointInfo& info : AllPoints()) {
    if (!report.space.Has(info.point)) others.push_back(info.name);
  }
  list.AddNames("point", others,
                exploration.command.points.empty()
                    ? "no set-up of the base has it"
                    : "not among those of --points");
  list.AddNames("point", MissedPoints(report),
                "no case had a fault that fired there");
}

void AddCases(const Exploration& exploration, const CampaignReport& report,
              UntriedList& list) {
  for (const auto& [why, count] : report.skipped) {
    list.Add(GroupedCount(count, "case") + " skipped", why);
  }
  if (report.fired_nothing > 0) {
    list.Add(GroupedCount(report.fired_nothing, "case"),
             "no fault fired, so they show nothing");
  }
  if (!report.left.empty()) list.Add(report.left, "the sweep was stopped");
  const ExploreCommand& command = exploration.command;
  if (command.first_case > 0) {
    list.Add("cases before number " + GroupedDigits(command.first_case),
             "--first-case");
  }
}

void AddShards(const ShardChoice& shard, UntriedList& list) {
  if (shard.count == 1) return;
  list.Add("cases of the other shards",
           fmt::format("this is shard {} of {}", shard.index, shard.count));
}

void AddLeftOut(const CrashStateReport& report, UntriedList& list) {
  const CrashStateTotals totals = TotalsOf(report);
  if (totals.left_out > 0) {
    list.Add(fmt::format("{:.4g} outcomes of power losses", totals.left_out),
             "beyond --max-states at their crash points");
  }
  for (const std::string& part : UnfinishedParts(report)) {
    list.Add("the rest of the crash states: " + part,
             "the exploration ended first");
  }
}

void AddUntriedCrashStates(const Exploration& exploration,
                           const CampaignReport& report, UntriedList& list) {
  if (!report.why_no_crash_states.empty()) {
    list.Add("crash states", report.why_no_crash_states);
  } else if (report.crash_states) {
    AddLeftOut(*report.crash_states, list);
  } else if (exploration.command.mode == ExploreMode::kMixed) {
    list.Add("crash states",
             "--case, --kinds, --points and --max-faults choose plans alone");
  } else {
    list.Add("crash states", "--mode crash-states and mixed try them");
  }
}

void AddRealWorld(UntriedList& list) {
  list.Add("runs in real processes",
           "explore searches in the simulated world; gauntlet run tries a "
           "finding's scenario in both");
}

}  // namespace

std::vector<NotTried> NotTriedIn(const Exploration& exploration,
                                 const CampaignReport& report) {
  UntriedList list;
  AddShards(exploration.command.shard, list);
  AddCases(exploration, report, list);
  AddKinds(exploration, report, list);
  AddPoints(exploration, report, list);
  AddUntriedCrashStates(exploration, report, list);
  AddRealWorld(list);
  return list.Take();
}

std::vector<NotTried> NotTriedIn(const Exploration& exploration,
                                 const CrashStateReport& report) {
  UntriedList list;
  AddShards(exploration.command.shard, list);
  AddLeftOut(report, list);
  list.Add("fault plans", "--mode mixed, random and sweep try them");
  AddRealWorld(list);
  return list.Take();
}

}  // namespace gauntlet
