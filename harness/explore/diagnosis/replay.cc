#include "harness/explore/diagnosis/replay.h"

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "harness/explore/diagnosis/divergence.h"
#include "harness/oracle/judge.h"
#include "harness/run/case_runner.h"
#include "harness/run/executor/run_log.h"
#include "harness/run/executor/sim_run.h"
#include "harness/run/failure/event_difference.h"
#include "harness/scenario/requirements.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

std::string FindingOrNone(const std::optional<Finding>& finding) {
  if (!finding) return "no finding";
  return fmt::format("{} {}", finding->invariant, finding->name);
}

// Returns the name and first line of the finding. If the finding is an unmet
// expectation, returns the messages of all unmet expectations.
std::string ShownText(const Verdict& verdict, const Finding& shown) {
  const std::vector<Finding>& broken = verdict.broken_expectations;
  if (std::ranges::find(broken, shown) == broken.end()) {
    // The message of a hang has further lines, which list what each task waits
    // for.
    return fmt::format("{}: {}", FindingOrNone(shown),
                       shown.message.substr(0, shown.message.find('\n')));
  }
  // The message of an expectation begins with its name.
  std::vector<std::string_view> messages;
  for (const Finding& one : broken) messages.push_back(one.message);
  return fmt::format("expectation {}", fmt::join(messages, "; "));
}

// Repeats the case of a real run in the simulated world.
Record Simulate(const RunPlan& plan, const DataSplit& data,
                const GoldenTrajectory& golden) {
  FiberPool pool;
  Record record = {.world = std::string(WorldKindName(WorldKind::kSimulated)),
                   .golden = golden};
  AdoptLog(RunSimulated(pool, plan, data), record);
  return record;
}

Result<Explanation> Explain(const RunPlan& plan, const DataSplit& data,
                            const Record& simulated) {
  const std::optional<Departure> departure = FirstDeparture(simulated);
  if (!departure) return Explanation();
  ASSIGN_OR_RETURN(const Divergence divergence,
                   FindDivergence(plan, data, *departure));
  Explanation explanation = {.cause = DescribeDivergence(divergence)};
  if (divergence.first) explanation.differences.push_back(*divergence.first);
  if (divergence.then) explanation.differences.push_back(*divergence.then);
  return explanation;
}

}  // namespace

std::optional<Finding> FirstFinding(const Verdict& verdict) {
  for (const InvariantReport& report : verdict.invariants) {
    if (report.violations > 0 && !report.findings.empty()) {
      return report.findings.front();
    }
  }
  if (verdict.broken_expectations.empty()) return std::nullopt;
  return verdict.broken_expectations.front();
}

std::string VerdictLine(const Verdict& verdict) {
  if (const auto first = FirstFinding(verdict)) {
    return VerdictLine(verdict, *first);
  }
  const std::string_view kind = VerdictKindName(verdict.kind);
  return verdict.reason.empty() ? std::string(kind)
                                : fmt::format("{}: {}", kind, verdict.reason);
}

std::string VerdictLine(const Verdict& verdict, const Finding& shown) {
  // Only a mutation test passes with a finding: its planted bug was caught.
  const bool wanted = verdict.kind == VerdictKind::kPass;
  const std::string first = FindingOrNone(FirstFinding(verdict));
  return fmt::format(
      "{} {}{}", wanted ? "planted bug caught:" : VerdictKindName(verdict.kind),
      ShownText(verdict, shown),
      first == FindingOrNone(shown) ? "" : "; first of all " + first);
}

std::string FirstReplayDifference(const Record& recorded, const Record& now) {
  if (recorded.world == "sim" && now.world == "sim") {
    if (const auto difference = FirstEventDifference(recorded, now)) {
      return DescribeDifference(*difference);
    }
    const std::string end = DescribeEndDifference(recorded, now);
    if (!end.empty()) return end;
  }
  const Verdict before = Judge(recorded);
  const Verdict after = Judge(now);
  if (before.kind == after.kind && FindingOrNone(FirstFinding(before)) ==
                                       FindingOrNone(FirstFinding(after))) {
    return "";
  }
  return fmt::format("verdict: recorded {}; now {}", VerdictLine(before),
                     VerdictLine(after));
}

Result<Explanation> ExplainTrajectory(const Case& one, const Record& record,
                                      References& references) {
  if (!FirstDeparture(record)) return Explanation();
  const RunPlan plan = PlanOf(one);
  ASSIGN_OR_RETURN(const std::shared_ptr<const DataSplit> data,
                   references.DataOf(plan.train.job.data));
  if (record.world == WorldKindName(WorldKind::kSimulated))
    return Explain(plan, *data, record);
  if (std::string why = WhyNotHere(one, CapabilitiesOf(WorldKind::kSimulated));
      !why.empty()) {
    return FailedPrecondition(std::move(why));
  }
  ASSIGN_OR_RETURN(Explanation explanation,
                   Explain(plan, *data, Simulate(plan, *data, record.golden)));
  explanation.cause =
      "in the simulated world: " + (explanation.cause.empty()
                                        ? "no difference from the reference"
                                        : explanation.cause);
  return explanation;
}

}  // namespace gauntlet
