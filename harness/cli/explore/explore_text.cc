#include "harness/cli/explore/explore_text.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "chaos/inject/plan/plan.h"
#include "chaos/sim/disk/durability_profile.h"
#include "engine/cli/flags/flags.h"
#include "engine/text/counted.h"
#include "engine/text/units.h"
#include "engine/world/fault_point.h"
#include "harness/cli/explore/case_command.h"
#include "harness/cli/explore/explore_gaps.h"
#include "harness/explore/crash/crash_states.h"
#include "harness/record/invariants.h"
#include "harness/run/files/shell_word.h"
#include "harness/scenario/run_setup.h"
#include "reports/html/page/text.h"
#include "reports/timeline.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

constexpr std::string_view kSweptWorkers = "the chief and the last worker";
// Maximum number of names in a list of uncovered or excluded items.
constexpr size_t kShownGaps = 4;

double Ratio(double part, double whole) {
  return whole > 0 ? part / whole : 0.0;
}

// Returns text such as "recovers 90%, completes 10%".
template <typename Key>
std::string Shares(const std::map<Key, uint64_t>& counts, uint64_t all) {
  std::string text;
  for (const auto& [key, count] : counts) {
    text += fmt::format(
        "{}{} {:.1f}%", text.empty() ? "" : ", ", key,
        100 * Ratio(static_cast<double>(count), static_cast<double>(all)));
  }
  return text;
}

// Returns text such as "a, b and 12 more".
std::string NamesText(const std::vector<std::string_view>& names,
                      const ExploreCommand& command) {
  const size_t shown = command.show_uncovered
                           ? names.size()
                           : std::min(names.size(), kShownGaps);
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(shown);
  return fmt::format("{}{}", fmt::join(names.begin(), end, ", "),
                     shown == names.size()
                         ? ""
                         : fmt::format(" and {} more", names.size() - shown));
}

// Returns text such as "38 of 40; never: a, b and 12 more".
std::string Reached(size_t all, const std::vector<std::string_view>& missed,
                    const ExploreCommand& command) {
  if (missed.empty()) return fmt::format("all {}", all);
  return fmt::format("{} of {}; never: {}", all - missed.size(), all,
                     NamesText(missed, command));
}

// Returns "; the base excludes a, b"; "" if there are no names.
std::string ExcludesText(const std::vector<std::string_view>& names,
                         const ExploreCommand& command) {
  if (names.empty()) return "";
  return fmt::format("; the base excludes {}", NamesText(names, command));
}

std::string RenderGaps(const CampaignReport& report) {
  std::string text;
  for (const PlaceGap& gap : GapsOf(report)) {
    text += fmt::format("  never at {} ({}): {}\n", PointName(gap.point),
                        FaultPhaseName(gap.phase), fmt::join(gap.missed, ", "));
  }
  return text;
}

std::string RenderGoals(const CampaignReport& report,
                        const ExploreCommand& command) {
  const auto all = AllGoals();
  const size_t rare = MissedGoals(report, GoalRarity::kRare).size();
  std::string text = fmt::format(
      "  goals         {} of {} reached{}\n", GoalsReached(report), all.size(),
      rare == 0 ? "" : fmt::format(", {} of the others rare", rare));
  if (!command.show_uncovered) return text;
  for (size_t i = 0; i < all.size(); ++i) {
    if (report.goals[i] > 0) continue;
    text += fmt::format("    never{} {}: {}\n",
                        all[i].rarity == GoalRarity::kRare ? " (rare)" : "",
                        all[i].name, all[i].description);
  }
  return text;
}

std::string RenderStatistics(const CampaignReport& report, int threads) {
  const double per_second =
      Ratio(static_cast<double>(report.cases), report.seconds);
  // Crash states share the time with the cases, and do not count as cases.
  std::string crash_states;
  if (report.crash_states) {
    crash_states = fmt::format(
        "; plus {:.0f} crash states a second",
        Ratio(static_cast<double>(TotalsOf(*report.crash_states).distinct),
              report.seconds));
  }
  std::string text =
      fmt::format("  rate          {:.0f} cases a second, {:.0f} a thread{}\n",
                  per_second, per_second / threads, crash_states);
  text += fmt::format("  faults fired  {}\n",
                      Shares(report.by_faults_fired, report.cases));
  text += fmt::format("  outcomes      {}\n",
                      Shares(report.by_outcome, report.cases));
  text += fmt::format(
      "  time          {:.0f} s in the simulation, {:.0f} times real time; "
      "{:.2f} restarts a case\n",
      report.virtual_seconds, Ratio(report.virtual_seconds, report.seconds),
      Ratio(static_cast<double>(report.restarts),
            static_cast<double>(report.cases)));
  text +=
      fmt::format("  determinism   {} run twice, {} differed\n",
                  Counted(report.ran_twice, "case"), report.nondeterministic);
  return text;
}

std::string RenderCoverage(const CampaignReport& report,
                           const ExploreCommand& command) {
  const Coverage& coverage = report.coverage;
  // Names that an option did not select are not shown as excluded by the base:
  // the user excluded them.
  const std::vector<std::string_view> none;
  std::string text = fmt::format(
      "  points        {}{}\n",
      Reached(report.space.points.size(), MissedPoints(report), command),
      ExcludesText(command.points.empty() ? ExcludedPoints(report) : none,
                   command));
  text += fmt::format(
      "  kinds         {}{}\n",
      Reached(report.space.kinds.size(), MissedKinds(report), command),
      ExcludesText(command.kinds.empty() ? ExcludedKinds(report) : none,
                   command));
  text += fmt::format(
      "  places        {} of point, kind and phase; {} of points; last new in "
      "case {}\n",
      coverage.fired().size(), Counted(coverage.pairs().size(), "pair"),
      coverage.last_new());
  text += fmt::format(
      "  invariants    {}, with something to check\n",
      Reached(AllInvariants().size(), IdleInvariants(report), command));
  text += RenderGoals(report, command);
  if (command.show_uncovered) return text + RenderGaps(report);
  return text + "  --show-uncovered lists all that was not reached\n";
}

std::string RenderSweep(const CampaignReport& report) {
  if (report.left.empty()) {
    return fmt::format("  sweep         done: faults of {}\n", kSweptWorkers);
  }
  return fmt::format(
      "  sweep         faults of {}; got to {}\n"
      "  left          {}\n",
      kSweptWorkers, report.progress, report.left);
}

// Returns the lines on the crash states of a mixed exploration; "" if none were
// requested.
std::string RenderCrashStates(const CampaignReport& report) {
  if (!report.why_no_crash_states.empty()) {
    return fmt::format("  crash states  none: {}\n",
                       report.why_no_crash_states);
  }
  if (!report.crash_states) return "";
  const CrashStateReport& states = *report.crash_states;
  const CrashStateTotals totals = TotalsOf(states);
  std::string text =
      fmt::format("  crash states  {} at {}: {} passed, {} failed",
                  totals.distinct, Counted(totals.points, "crash point"),
                  totals.distinct - states.images_failed, states.images_failed);
  if (states.nondeterministic > 0) {
    text += fmt::format(", {} differed when recovered twice",
                        states.nondeterministic);
  }
  if (states.finished()) return text + "\n";
  return text + fmt::format("; unfinished: {}\n",
                            fmt::join(UnfinishedParts(states), ", "));
}

// Returns set-up, faults and outcome of the only case, instead of statistics.
std::string RenderOnly(const Case& base, const CampaignReport& report) {
  const ExploreCase& only = *report.only;
  const std::vector<Case> setups = SetupsOf(base);
  std::string text = fmt::format("  set-up        {}\n",
                                 DescribeSetup(setups[only.setup], base));
  for (const Fault& fault : only.plan.faults) {
    text +=
        fmt::format("  fault         {}: {}\n", fault.id, FaultSummary(fault));
  }
  for (const auto& [key, count] : report.coverage.fired()) {
    const auto& [point, kind, phase] = key;
    text += fmt::format("  fired         {} at {} ({})\n", FaultKindName(kind),
                        PointName(point), FaultPhaseName(phase));
  }
  for (const auto& [outcome, count] : report.by_outcome) {
    text += fmt::format("  outcome       {}\n", outcome);
  }
  return text;
}

// Returns text such as ", shard 2 of 4"; "" without shards.
std::string ShardText(const ShardChoice& shard) {
  if (shard.count == 1) return "";
  return fmt::format(", shard {} of {}", shard.index, shard.count);
}

// Returns text such as ", with the planted bug lose-metrics"; "" without one.
std::string BugsText(const std::vector<PlantedBug>& bugs) {
  if (bugs.empty()) return "";
  const std::vector<std::string> names = NamesOfBugs(bugs);
  return fmt::format(", with the planted bug{} {}",
                     names.size() == 1 ? "" : "s", fmt::join(names, ", "));
}

// Returns the first line: the base, its size, and `what`, which describes the
// mode. If the base has faults, a second line says that they are not used.
std::string HeadOf(const Case& base, std::string_view what) {
  std::string text = fmt::format(
      "{}: {}, {}; {}{}\n", base.name,
      Counted(static_cast<uint64_t>(base.cluster.workers), "worker"),
      Counted(SpaceOf(base).steps, "step"), what, BugsText(base.plan.bugs));
  if (base.plan.faults.empty()) return text;
  return text + fmt::format(
                    "  not used: {} of the base; an exploration has its "
                    "own faults\n",
                    Counted(base.plan.faults.size(), "fault"));
}

}  // namespace

std::string_view CampaignEndName(const CampaignReport& report) {
  switch (report.end) {
    case CampaignEnd::kExhausted:
      return report.left.empty() ? "done" : "stopped: --cases";
    case CampaignEnd::kTime:
      return "stopped: time budget";
    case CampaignEnd::kFindings:
      return "stopped: enough findings";
    case CampaignEnd::kInterrupted:
      return "interrupted";
  }
  return "";
}

std::string FailedCasesText(const CampaignReport& report) {
  if (report.failed == 0) return "0 failed";
  return fmt::format("{} failed ({})", GroupedDigits(report.failed),
                     Counted(report.findings.size(), "cause"));
}

std::string RenderExploreHead(const Case& base, const ExploreCommand& command,
                              uint64_t seed) {
  std::string text = HeadOf(
      base,
      fmt::format("mode {}, up to {} in a plan, seed {}{}",
                  ExploreModeName(command.mode),
                  Counted(static_cast<uint64_t>(command.max_faults), "fault"),
                  seed, ShardText(command.shard)));
  const std::vector<std::string> overrides = OverridesOf(base);
  if (overrides.empty()) return text;
  return text +
         fmt::format("  not the base's own: {}\n", fmt::join(overrides, ", "));
}

std::string RenderCrashStatesHead(const Case& base,
                                  const ExploreCommand& command) {
  const CrashStateChoice& choice = command.crash_states;
  if (!choice.id.empty()) {
    return HeadOf(base, "mode crash-states, crash state " + Quoted(choice.id));
  }
  std::vector<std::string_view> names;
  for (const CrashWindow window : choice.windows) {
    names.push_back(CrashWindowName(window));
  }
  std::string what =
      fmt::format("mode crash-states, windows {}", fmt::join(names, ", "));
  names.clear();
  for (const DurabilityProfile profile : choice.profiles) {
    names.push_back(ProfileName(profile));
  }
  if (!names.empty()) {
    what += fmt::format(", profiles {}", fmt::join(names, ", "));
  }
  what += ShardText(command.shard);
  return HeadOf(base, what);
}

// Returns a line on the other invariants that the plan breaks; "" if there are
// none.
std::string RenderSymptoms(const CampaignFinding& finding) {
  std::vector<std::string> others;
  for (const Violation& violation : finding.symptoms) {
    if (violation.invariant == finding.what.invariant &&
        violation.name == finding.what.name) {
      continue;
    }
    others.push_back(
        fmt::format("{} ({})", violation.invariant, violation.name));
  }
  if (others.empty()) return "";
  return fmt::format("       breaks too: {}\n", fmt::join(others, ", "));
}

std::string RenderFound(const CampaignFinding& finding,
                        const FindingFiles& files) {
  std::string text =
      fmt::format("FOUND  case {}: {} ({})\n", finding.case_number,
                  finding.what.invariant, finding.what.name);
  if (!finding.cause.empty()) {
    text += fmt::format("       cause: {}\n", finding.cause);
  }
  // Prints the first line only: the message of a hang continues with a line for
  // each waiting task.
  text += fmt::format("       {}\n", finding.what.message.substr(
                                         0, finding.what.message.find('\n')));
  text += fmt::format("       shrunk {} to {} in {} tries{}{}\n",
                      Counted(finding.original.faults.size(), "fault"),
                      finding.plan.faults.size(), finding.tries,
                      finding.shrunk_to_the_end
                          ? ""
                          : "; shrinking was stopped, a simpler plan may exist",
                      finding.plan.faults.empty() ? "" : ":");
  for (const Fault& fault : finding.plan.faults) {
    text += fmt::format("         {}: {}\n", fault.id, FaultSummary(fault));
  }
  text += RenderSymptoms(finding);
  if (files.scenario.empty()) {
    return text +
           fmt::format("       no scenario of it: {}\n", files.why_no_scenario);
  }
  return text + fmt::format("       replay: gauntlet replay {}\n",
                            ShellWord(files.scenario.string()));
}

std::string RenderCampaign(const Case& base, const CampaignReport& report,
                           const ExploreCommand& command) {
  uint64_t skipped = 0;
  for (const auto& [why, count] : report.skipped) skipped += count;
  std::string text = fmt::format(
      "{}. {} in {:.1f}s: {} passed, {}, {} fired nothing{}\n",
      CampaignEndName(report), GroupedCount(report.cases, "case"),
      report.seconds, GroupedDigits(report.passed), FailedCasesText(report),
      GroupedDigits(report.fired_nothing),
      skipped > 0 ? fmt::format(", {} skipped", GroupedDigits(skipped)) : "");
  for (const auto& [why, count] : report.skipped) {
    text += fmt::format("  skipped       {}: {}\n", count, why);
  }
  if (report.only) return text + RenderOnly(base, report);
  if (report.cases == 0) return text;
  if (command.mode == ExploreMode::kSweep) text += RenderSweep(report);
  text += RenderStatistics(report, command.jobs);
  text += RenderCrashStates(report);
  return text + RenderCoverage(report, command);
}

}  // namespace gauntlet
