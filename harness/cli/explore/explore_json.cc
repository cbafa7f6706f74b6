#include "harness/cli/explore/explore_json.h"

#include <utility>

#include "harness/cli/explore/case_command.h"
#include "harness/cli/explore/explore_gaps.h"
#include "harness/cli/explore/explore_text.h"
#include "harness/record/result/result_file.h"
#include "harness/scenario/run_setup.h"
#include "reports/timeline.h"
#include <nlohmann/json.hpp>

namespace gauntlet {
namespace {

using Json = nlohmann::ordered_json;

Json GapsToJson(const CampaignReport& report) {
  Json gaps = Json::array();
  for (const PlaceGap& gap : GapsOf(report)) {
    gaps.push_back({{"point", PointName(gap.point)},
                    {"phase", FaultPhaseName(gap.phase)},
                    {"kinds_missed", gap.missed}});
  }
  return gaps;
}

Json CrashStatesToJson(const CampaignReport& report,
                       const std::vector<WrittenCrashFinding>& written) {
  if (!report.crash_states) return nullptr;
  const CrashStateReport& states = *report.crash_states;
  const CrashStateTotals totals = TotalsOf(states);
  return {{"cases", totals.distinct},
          {"findings", CrashFindingsToJson(written)},
          {"failed", states.images_failed},
          {"failed_outcomes", states.outcomes_failed},
          {"ran_twice", states.ran_twice},
          {"nondeterministic", states.nondeterministic},
          {"crash_points", totals.points},
          {"outcomes", totals.enumerated},
          {"left_out", totals.left_out},
          {"complete", states.complete()},
          {"unfinished", UnfinishedParts(states)},
          {"parts", CrashStatePartsToJson(states)}};
}

Json FindingToJson(const CampaignFinding& finding, const FindingFiles& files) {
  Json faults = Json::array();
  for (const Fault& fault : finding.plan.faults) {
    faults.push_back(FaultSummary(fault));
  }
  Json breaks = Json::array();
  for (const Violation& violation : finding.symptoms) {
    breaks.push_back(violation.invariant + " (" + violation.name + ")");
  }
  return {{"invariant", finding.what.invariant},
          {"name", finding.what.name},
          {"message", finding.what.message},
          {"cause", finding.cause},
          {"differences", Json::parse(DifferencesToJson(finding.differences))},
          {"breaks", std::move(breaks)},
          {"case", finding.case_number},
          {"cases", finding.cases},
          {"faults", std::move(faults)},
          {"tries", finding.tries},
          {"shrunk_to_the_end", finding.shrunk_to_the_end},
          {"file", files.scenario.string()},
          {"why_no_file", files.why_no_scenario}};
}

}  // namespace

std::string CampaignToJson(const Case& base, const CampaignReport& report,
                           const CampaignFiles& files,
                           const ExploreCommand& command, uint64_t seed) {
  Json found = Json::array();
  for (size_t i = 0; i < report.findings.size(); ++i) {
    found.push_back(FindingToJson(report.findings[i], files.plans.at(i)));
  }
  const double per_second =
      report.seconds > 0 ? static_cast<double>(report.cases) / report.seconds
                         : 0.0;
  Json json = {
      {"schema", kExploreSchema},
      {"base", base.name},
      {"mode", ExploreModeName(command.mode)},
      {"seed", seed},
      {"end", CampaignEndName(report)},
      {"cases", report.cases},
      {"seconds", report.seconds},
      {"per_second", per_second},
      {"per_second_per_thread", per_second / command.jobs},
      {"findings", std::move(found)},
      {"passed", report.passed},
      {"failed", report.failed},
      {"fired_nothing", report.fired_nothing},
      {"skipped", report.skipped},
      {"ran_twice", report.ran_twice},
      {"nondeterministic", report.nondeterministic},
      {"points_hit", report.space.points.size() - MissedPoints(report).size()},
      {"points_total", report.space.points.size()},
      {"points_missed", MissedPoints(report)},
      {"kinds_missed", MissedKinds(report)},
      {"invariants_missed", IdleInvariants(report)},
      {"places", report.coverage.fired().size()},
      {"pairs", report.coverage.pairs().size()},
      {"goals_reached", GoalsReached(report)},
      {"goals_total", AllGoals().size()},
      {"goals_missed", MissedGoals(report, GoalRarity::kUsual)},
      {"rare_goals_missed", MissedGoals(report, GoalRarity::kRare)},
      {"outcomes", report.by_outcome},
      {"virtual_seconds", report.virtual_seconds},
      {"restarts", report.restarts},
      {"left", report.left},
      {"crash_states", CrashStatesToJson(report, files.crash_states)},
      {"why_no_crash_states", report.why_no_crash_states},
  };
  if (command.show_uncovered) json["gaps"] = GapsToJson(report);
  if (report.only) {
    Json plan = Json::array();
    for (const Fault& fault : report.only->plan.faults) {
      plan.push_back(FaultSummary(fault));
    }
    json["plan"] = std::move(plan);
    if (report.only_record) {
      json["timeline"] =
          Json::parse(TimelineToJson(TimelineOf(*report.only_record, {})));
    }
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gauntlet
