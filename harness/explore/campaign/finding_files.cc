#include "harness/explore/campaign/finding_files.h"

#include <algorithm>
#include <system_error>
#include <utility>
#include <vector>

#include "chaos/inject/plan/plan.h"
#include "harness/explore/campaign/found_violation.h"
#include "harness/explore/campaign/unique_name.h"
#include "harness/record/invariants.h"
#include "harness/run/files/text_file.h"
#include "harness/scenario/run_setup.h"
#include "harness/scenario/writer/write_scenario.h"
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

// Returns the first line of a message, which may have several. Each part of the
// scenario's header must be one line.
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

namespace {

Result<std::string> ScenarioOf(const CampaignFinding& finding,
                               const std::string& name,
                               const std::string& origin) {
  Case one = FindingCase(finding);
  one.name = one.scenario = name;
  const std::string found =
      (finding.shrunk_to_the_end
           ? ""
           : "\nNot shrunk to the end: there may be a simpler one.") +
      (origin.empty() ? "" : "\nFound by " + origin);
  return WriteScenario(
      one, {.goal = fmt::format("{} holds ({}): it is broken here.",
                                finding.what.invariant, finding.what.name),
            .method = MethodOf(finding) + found,
            .expect = fmt::format("{}; found was: {}.",
                                  OutcomeName(one.expect.outcome),
                                  FirstLine(finding.what.message))});
}

// Writes the files of the finding under `name`, the scenario first. On an
// error, removes those already written.
Result<FindingFiles> WriteAs(const std::string& name,
                             const CampaignFinding& finding,
                             const std::string& origin,
                             const fs::path& directory) {
  FindingFiles files;
  std::vector<std::pair<fs::path, std::string>> texts;
  Result<std::string> scenario = ScenarioOf(finding, name, origin);
  if (scenario.ok()) {
    files.scenario = directory / (name + ".yaml");
    texts.emplace_back(files.scenario, *std::move(scenario));
  } else {
    files.why_no_scenario = scenario.status().message();
  }
  const auto add_plan = [&](const char* ending, FaultPlan plan) {
    const std::vector<PlantedBug>& bugs = finding.setup.plan.bugs;
    plan.bugs.insert(plan.bugs.end(), bugs.begin(), bugs.end());
    texts.emplace_back(directory / (name + ending), PlanToJson(plan) + "\n");
  };
  add_plan(".plan.json", finding.plan);
  add_plan(".original.json", finding.original);
  for (size_t i = 0; i < texts.size(); ++i) {
    const Status written = WriteNewTextFile(texts[i].first, texts[i].second);
    if (written.ok()) continue;
    std::error_code error;
    for (size_t k = 0; k < i; ++k) fs::remove(texts[k].first, error);
    return written;
  }
  return files;
}

}  // namespace

Result<FindingFiles> WriteFinding(const CampaignFinding& finding,
                                  const std::string& origin,
                                  const fs::path& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) {
    return IoError(fmt::format("{}: {}", directory.string(), error.message()));
  }
  return WriteUnderUniqueName(
      FindingName(finding), [&](const std::string& name) {
        return WriteAs(name, finding, origin, directory);
      });
}

}  // namespace gauntlet
