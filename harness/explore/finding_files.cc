#include "harness/explore/finding_files.h"

#include <algorithm>
#include <system_error>

#include "chaos/inject/plan.h"
#include "harness/explore/found_breach.h"
#include "harness/record/invariants.h"
#include "harness/run/text_file.h"
#include "harness/scenario/run_setup.h"
#include "harness/scenario/write_scenario.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxSlug = 60;

std::string Slug(const CampaignFinding& finding) {
  std::string slug = finding.what.invariant;
  for (const Fault& fault : finding.plan.faults) {
    slug += fmt::format("-{}-at-{}", FaultKindName(fault.kind),
                        PointName(fault.site.point));
  }
  std::ranges::replace_if(
      slug, [](char c) { return c == '.' || c == '_' || c == ' '; }, '-');
  slug.resize(std::min(slug.size(), kMaxSlug));
  return slug;
}

std::string MethodOf(const CampaignFinding& finding) {
  std::string method;
  for (const Fault& fault : finding.plan.faults) {
    method += (method.empty() ? "" : "; ") + FaultSummary(fault);
  }
  return method.empty() ? "no fault at all." : method + ".";
}

// A message may tell of several lines; a header has one for each part.
std::string FirstLine(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

}  // namespace

std::string FindingName(const CampaignFinding& finding) {
  return fmt::format("finding-{:03}-{}", finding.number, Slug(finding));
}

Case FindingCase(const CampaignFinding& finding) {
  Case one = finding.setup;
  one.name = one.scenario = FindingName(finding);
  one.seed = one.plan.seed = finding.plan.seed;
  one.plan.faults = finding.plan.faults;
  one.labels = FindingLabels(
      {.invariant = finding.what.invariant, .name = finding.what.name});
  one.expect = {.outcome = finding.record.expect.outcome};
  if (!one.plan.bugs.empty() && IsInvariant(finding.what.invariant)) {
    one.expect = {.outcome = Outcome::kViolates,
                  .invariants = {finding.what.invariant}};
  }
  return one;
}

Result<FindingFiles> WriteFinding(const CampaignFinding& finding,
                                  const fs::path& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) {
    return IoError(fmt::format("{}: {}", directory.string(), error.message()));
  }
  const std::string name = FindingName(finding);
  RETURN_IF_ERROR(WriteTextFile(directory / (name + ".original.json"),
                                PlanToJson(finding.original) + "\n"));
  RETURN_IF_ERROR(WriteTextFile(directory / (name + ".plan.json"),
                                PlanToJson(finding.plan) + "\n"));
  const Case one = FindingCase(finding);
  const Result<std::string> text = WriteScenario(
      one, {.goal = fmt::format("{} holds ({}): it is broken here.",
                                finding.what.invariant, finding.what.name),
            .method = MethodOf(finding),
            .expect = fmt::format("{}; found was: {}.",
                                  OutcomeName(one.expect.outcome),
                                  FirstLine(finding.what.message))});
  if (!text.ok()) {
    return FindingFiles{.scenario = {},
                        .why_no_scenario = text.status().message()};
  }
  const fs::path file = directory / (name + ".yaml");
  RETURN_IF_ERROR(WriteTextFile(file, *text));
  return FindingFiles{.scenario = file, .why_no_scenario = ""};
}

}  // namespace gauntlet
