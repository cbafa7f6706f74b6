#include "harness/cli/explore/explore_report.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "chaos/sim/disk/durability_profile.h"
#include "engine/text/counted.h"
#include "harness/cli/explore/case_command.h"
#include "harness/cli/explore/explore_interruption.h"
#include "harness/cli/explore/explore_text.h"
#include "harness/cli/explore/not_tried.h"
#include "harness/cli/run_folders/run_directory.h"
#include "harness/explore/campaign/unique_name.h"
#include "harness/explore/coverage/goals.h"
#include "harness/explore/plan/applicability.h"
#include "harness/oracle/judge.h"
#include "harness/record/text/simulated_time.h"
#include "harness/run/failure/consequences.h"
#include "harness/run/failure/failure_summary.h"
#include "harness/run/failure/violated_checks.h"
#include "harness/run/files/shell_word.h"
#include "harness/run/files/text_file.h"
#include "harness/scenario/run_setup.h"
#include "reports/html/case_section.h"
#include "reports/html/page/text.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

std::string SecondsText(double seconds) {
  return DurationText(std::llround(seconds * 1000) * 1'000'000);
}

VerdictStrip FactsOf(const Exploration& exploration) {
  const ExploreCommand& command = exploration.command;
  VerdictStrip strip;
  strip.facts = {{"base", exploration.base.name},
                 {"mode", std::string(ExploreModeName(command.mode))}};
  if (command.mode != ExploreMode::kCrashStates) {
    strip.facts.emplace_back("exploration seed",
                             fmt::format("{}", exploration.seed));
  }
  if (command.shard.count > 1) {
    strip.facts.emplace_back(
        "shard",
        fmt::format("{} of {}", command.shard.index, command.shard.count));
  }
  for (std::string& name : NamesOfBugs(exploration.base.plan.bugs)) {
    strip.facts.emplace_back("planted bug", std::move(name));
  }
  strip.below = "<p class=\"muted\">Repeat this exploration:</p>\n" +
                RenderCommand(CommandForExploration(command, exploration.seed));
  return strip;
}

void AddPaceFacts(uint64_t cases, double seconds, VerdictStrip& strip) {
  strip.facts.emplace_back("duration", SecondsText(seconds));
  if (seconds <= 0) return;
  strip.facts.emplace_back(
      "rate",
      fmt::format("{:.0f} a second", static_cast<double>(cases) / seconds));
}

VerdictStrip StripOf(const Exploration& exploration,
                     const CampaignReport& report) {
  VerdictStrip strip = FactsOf(exploration);
  uint64_t skipped = 0;
  for (const auto& [why, count] : report.skipped) skipped += count;
  strip.title =
      fmt::format("{}: {} passed, {}", GroupedCount(report.cases, "case"),
                  GroupedDigits(report.passed), FailedCasesText(report));
  if (report.fired_nothing > 0) {
    strip.title +=
        fmt::format(", {} fired nothing", GroupedDigits(report.fired_nothing));
  }
  strip.counts = {{"failed", "failed", report.failed},
                  {"passed", "passed", report.passed},
                  {"inconclusive", "fired nothing", report.fired_nothing},
                  {"skipped", "skipped", skipped}};
  if (report.crash_states) {
    const uint64_t states = TotalsOf(*report.crash_states).distinct;
    const uint64_t failed = report.crash_states->images_failed;
    if (states > 0) {
      strip.title += fmt::format("; {}, {} failed",
                                 GroupedCount(states, "crash state"), failed);
    }
    strip.counts.push_back({"failed", "crash states failed", failed});
    strip.counts.push_back({"passed", "crash states passed", states - failed});
  }
  strip.facts.emplace_back("end", std::string(CampaignEndName(report)));
  AddPaceFacts(report.cases, report.seconds, strip);
  const bool resumes = exploration.command.mode != ExploreMode::kSweep &&
                       (report.end == CampaignEnd::kInterrupted ||
                        report.end == CampaignEnd::kTime);
  if (resumes) {
    strip.below += "<p class=\"muted\">Resume it:</p>\n" +
                   RenderCommand(CommandToResume(exploration.command,
                                                 exploration.seed, report));
  }
  return strip;
}

std::vector<StepPlot> GrowthOf(const CampaignReport& report) {
  StepPlot points = {.name = "fault points reached",
                     .x_name = "case",
                     .x_end = report.cases,
                     .total = report.space.points.size(),
                     .steps = {}};
  StepPlot goals = {.name = "coverage goals reached",
                    .x_name = "case",
                    .x_end = report.cases,
                    .total = AllGoals().size(),
                    .steps = {}};
  StepPlot pairs = {.name = "pairs of points, one after the other",
                    .x_name = "case",
                    .x_end = report.cases,
                    .steps = {}};
  for (const CoverageSample& sample : report.curve.samples()) {
    points.steps.push_back({sample.cases, sample.points});
    goals.steps.push_back({sample.cases, sample.goals});
    pairs.steps.push_back({sample.cases, sample.pairs});
  }
  return {std::move(points), std::move(goals), std::move(pairs)};
}

std::vector<ReportedGoal> GoalsOf(const CampaignReport& report) {
  std::vector<ReportedGoal> goals;
  const auto all = AllGoals();
  for (size_t i = 0; i < all.size(); ++i) {
    goals.push_back({.name = std::string(all[i].name),
                     .description = std::string(all[i].description),
                     .rare = all[i].rarity == GoalRarity::kRare,
                     .cases = report.goals[i]});
  }
  return goals;
}

CoverageMatrix MatrixOf(const CampaignReport& report) {
  FaultCatalogue catalogue;
  for (const FaultKind kind : report.space.kinds) {
    catalogue.kinds.emplace_back(FaultKindName(kind));
    for (const Point point : report.space.points) {
      if (Applies(kind, point)) continue;
      catalogue.impossible.emplace(FaultKindName(kind), PointName(point));
    }
  }
  for (const Point point : report.space.points) {
    catalogue.points.emplace_back(PointName(point));
  }
  CoverageMatrix matrix(catalogue);
  for (const auto& [place, planned] : report.coverage.planned()) {
    matrix.Add(std::string(FaultKindName(place.second)),
               std::string(PointName(place.first)), planned, 0);
  }
  for (const auto& [key, fired] : report.coverage.fired()) {
    const auto& [point, kind, phase] = key;
    matrix.Add(std::string(FaultKindName(kind)), std::string(PointName(point)),
               0, fired);
  }
  return matrix;
}

// Returns "caught by store; …": the result for the planted bugs of a finding.
std::string CatchText(const CampaignFinding& finding, const Verdict& verdict) {
  const std::string caught =
      fmt::format("caught by {}", fmt::join(ViolatedIn(verdict), ", "));
  return FindingCase(finding).expect.outcome == Outcome::kViolates
             ? caught +
                   "; the exploration counts that as a failure. The finding's "
                   "scenario expects it and passes"
             : caught + "; the exploration counts that as a failure";
}

// Returns the finding as a failed case of `gauntlet run`.
CaseResult ResultOf(const CampaignFinding& finding, const FindingFiles& files) {
  CaseResult result = {.name = FindingName(finding),
                       .scenario = files.scenario.empty()
                                       ? finding.setup.scenario
                                       : files.scenario.stem().string(),
                       .file = files.scenario.string(),
                       .line = 1,
                       .seed = finding.plan.seed,
                       .world = "sim",
                       .cause = finding.cause,
                       .planted_bugs = NamesOfBugs(finding.setup.plan.bugs),
                       .differences = finding.differences,
                       .verdict = Judge(finding.record)};
  if (!result.differences.empty()) {
    result.consequences =
        ConsequencesOf(result.differences.front(), result.verdict);
  }
  ExplainFailure(finding.record, result);
  result.cause = WithClockOfWorld(std::move(result.cause), result.world);
  // The advice for unmet expectations is to correct the scenario. It does not
  // apply here: the exploration set the expectations itself.
  if (HasOnlyUnmetExpectations(result.verdict)) result.summary.next.clear();
  FailFor(fmt::format("{} ({})", finding.what.invariant, finding.what.name),
          result.verdict);
  // Adds the finding if the oracle does not report it. The oracle judges single
  // runs, so it cannot report that a repetition differs.
  const bool known = std::ranges::any_of(
      result.verdict.invariants, [&](const InvariantReport& report) {
        return report.invariant == finding.what.invariant &&
               !report.findings.empty();
      });
  if (!known) {
    result.verdict.invariants.insert(result.verdict.invariants.begin(),
                                     {.invariant = finding.what.invariant,
                                      .instances = 1,
                                      .violations = 1,
                                      .findings = {finding.what}});
  }
  if (!result.planted_bugs.empty()) {
    result.summary.planted = CatchText(finding, result.verdict);
  }
  if (!files.scenario.empty()) {
    result.replay = "gauntlet replay " + ShellWord(files.scenario.string());
  }
  return result;
}

// Returns "2 faults (crash at step.begin, hang at step.end)".
std::string FaultsText(const FaultPlan& plan) {
  std::vector<std::string> faults;
  for (const Fault& fault : plan.faults) {
    faults.push_back(fmt::format("{} at {}", FaultKindName(fault.kind),
                                 PointName(fault.site.point)));
  }
  const std::string count = Counted(faults.size(), "fault");
  return faults.empty()
             ? count
             : fmt::format("{} ({})", count, fmt::join(faults, ", "));
}

ReportedFinding ReportedFindingOf(const CampaignFinding& finding,
                                  const FindingFiles& files, const Case& base) {
  ReportedFinding reported = {
      .result = ResultOf(finding, files),
      .record = &finding.record,
      .check =
          fmt::format("{} ({})", finding.what.invariant, finding.what.name),
      .faults = {},
      .origin = fmt::format(
          "Found by {}, first by case {}; set-up: {}. Shrunk {} to {} in {}{}.",
          GroupedCount(finding.cases, "case"), finding.case_number,
          DescribeSetup(finding.setup, base), FaultsText(finding.original),
          FaultsText(finding.plan),
          finding.tries == 1 ? "1 try" : fmt::format("{} tries", finding.tries),
          finding.shrunk_to_the_end ? "" : "; shrinking was stopped"),
      .scenario = ReadTextFile(files.scenario),
      .why_no_scenario = files.why_no_scenario};
  for (const Fault& fault : finding.plan.faults) {
    reported.faults.push_back(
        fmt::format("{}: {}", fault.id, FaultSummary(fault)));
  }
  return reported;
}

void AddCrashStateTables(const CrashStateReport& report,
                         const std::vector<WrittenCrashFinding>& findings,
                         ExplorationReport& page) {
  for (const CrashStateCounts& counts : report.counts) {
    const CrashStatePart part = {.profile = counts.profile,
                                 .window = counts.window};
    page.crash_windows.push_back(
        {.disk = std::string(ProfileName(counts.profile)),
         .window = std::string(CrashWindowName(counts.window)),
         .crash_points = counts.points,
         .outcomes = counts.images_enumerated,
         .states = counts.images_distinct,
         .left_out = counts.images_left_out,
         .refusals = counts.refusals,
         .finished = std::ranges::find(report.unfinished, part) ==
                     report.unfinished.end()});
  }
  for (const WrittenCrashFinding& one : findings) {
    page.crash_findings.push_back(
        {.id = one.finding.id,
         .event = one.finding.event,
         .survived = one.finding.survived,
         .expected = one.finding.expected,
         .found = one.finding.found,
         .replay =
             one.file.empty() ? "" : "gauntlet replay " + ShellWord(one.file)});
  }
}

}  // namespace

ExplorationReport ReportOf(const Exploration& exploration,
                           const CampaignReport& report,
                           const CampaignFiles& files) {
  ExplorationReport page = {.base = exploration.base.name,
                            .strip = StripOf(exploration, report),
                            .growth = GrowthOf(report),
                            .goals = GoalsOf(report),
                            .coverage = MatrixOf(report),
                            .findings = {},
                            .crash_findings = {},
                            .crash_windows = {},
                            .not_tried = NotTriedIn(exploration, report)};
  for (size_t i = 0; i < report.findings.size(); ++i) {
    page.findings.push_back(ReportedFindingOf(
        report.findings[i], files.plans.at(i), exploration.base));
  }
  if (report.crash_states) {
    AddCrashStateTables(*report.crash_states, files.crash_states, page);
  }
  return page;
}

ExplorationReport ReportOf(const Exploration& exploration,
                           const CrashStateReport& report,
                           const std::vector<WrittenCrashFinding>& findings,
                           const CrashStatesEnd& end) {
  ExplorationReport page = {.base = exploration.base.name,
                            .strip = FactsOf(exploration),
                            .growth = {},
                            .goals = {},
                            .coverage = {},
                            .findings = {},
                            .crash_findings = {},
                            .crash_windows = {},
                            .not_tried = NotTriedIn(exploration, report)};
  const uint64_t states = TotalsOf(report).distinct;
  page.strip.title = fmt::format("{}: {} passed, {} failed",
                                 GroupedCount(states, "crash state"),
                                 GroupedDigits(states - report.images_failed),
                                 GroupedDigits(report.images_failed));
  page.strip.counts = {{"failed", "failed", report.images_failed},
                       {"passed", "passed", states - report.images_failed}};
  page.strip.facts.emplace_back("end", std::string(end.name));
  AddPaceFacts(states, end.seconds, page.strip);
  AddCrashStateTables(report, findings, page);
  return page;
}

Result<fs::path> WriteReport(const ExplorationReport& report,
                             const ExploreCommand& command,
                             const fs::path& findings) {
  const fs::path folder =
      command.out_directory.empty() ? findings.parent_path() : findings;
  std::error_code error;
  fs::create_directories(folder, error);
  return WriteUnderUniqueName(
      "report", [&](const std::string& name) -> Result<fs::path> {
        const fs::path file = folder / (name + ".html");
        if (fs::exists(file, error)) return AlreadyExists(file.string());
        RETURN_IF_ERROR(WriteTextFile(file, RenderExploration(report)));
        return file;
      });
}

}  // namespace gauntlet
