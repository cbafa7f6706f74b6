#include "harness/explore/campaign/crash_finding_file.h"

#include <system_error>
#include <utility>

#include "engine/job/strict_json.h"
#include "harness/explore/campaign/unique_name.h"
#include "harness/explore/crash/crash_image_id.h"
#include "harness/run/files/text_file.h"
#include "harness/scenario/writer/write_scenario.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSchema = "gauntlet/crash-state/v1";
constexpr std::string_view kWhat = "a crash state's file";

}  // namespace

std::string CrashFindingToJson(const CrashFinding& finding) {
  const Json json = {
      {"schema", kSchema},
      {"id", finding.finding.id},
      {"event", finding.finding.event},
      {"expected", finding.finding.expected},
      {"found", finding.finding.found},
      {"save", finding.save},
      {"names_up_to", finding.bound.names_up_to},
      {"contents_up_to", finding.bound.contents_up_to},
      {"combinations_up_to", finding.bound.combinations_up_to},
      {"scenario", finding.scenario},
  };
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<CrashFinding> CrashFindingFromJson(std::string_view text) {
  ASSIGN_OR_RETURN(const Json json, ParseStrictJson(text, kWhat));
  JsonFields fields(json, "");
  CrashFinding finding;
  // Reads the schema first, because only the first error is reported, and a
  // file of another schema has other keys.
  fields.Choice<bool>("schema", {{kSchema, true}});
  finding.finding.id = fields.String("id");
  finding.finding.event = fields.String("event");
  finding.finding.expected = fields.String("expected");
  finding.finding.found = fields.String("found");
  finding.save = fields.Unsigned("save");
  CrashBound& bound = finding.bound;
  bound.names_up_to = fields.Unsigned("names_up_to");
  bound.contents_up_to = fields.Unsigned("contents_up_to");
  bound.combinations_up_to = fields.Unsigned("combinations_up_to");
  finding.scenario = fields.String("scenario");
  RETURN_IF_ERROR(fields.Finish());
  if (!ParseId(finding.finding.id)) {
    return InvalidArgument(
        fmt::format("id: expected one such as weak-save-17-3-0.2, found {}",
                    finding.finding.id));
  }
  return finding;
}

Result<std::string> CrashScenario(const Case& base) {
  Case one = base;
  one.scenario = "crash-state";
  one.name = one.scenario;
  one.plan.faults.clear();
  one.expect = {};
  return WriteScenario(one, {});
}

Result<fs::path> WriteCrashFinding(const CrashFinding& finding, size_t number,
                                   const fs::path& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) {
    return IoError(fmt::format("{}: {}", directory.string(), error.message()));
  }
  const std::string text = CrashFindingToJson(finding);
  return WriteUnderUniqueName(
      fmt::format("finding-{:03}-{}", number, finding.finding.id),
      [&](const std::string& name) -> Result<fs::path> {
        fs::path file =
            directory / fmt::format("{}{}", name, kCrashFindingEnding);
        RETURN_IF_ERROR(WriteNewTextFile(file, text));
        return file;
      });
}

Result<CrashStateFinding> RepeatCrashFinding(const CrashFinding& finding,
                                             References& references) {
  const LoadedFile loaded = LoadScenarios(finding.scenario, "scenario");
  if (!loaded.errors.empty()) {
    const Diagnostic& first = loaded.errors.front();
    return InvalidArgument(
        fmt::format("scenario: line {}: {}{}{}", first.place.line,
                    first.message, first.hint.empty() ? "" : "; ", first.hint));
  }
  if (loaded.cases.size() != 1) {
    return InvalidArgument(fmt::format("scenario: expected one case, found {}",
                                       loaded.cases.size()));
  }
  Result<CrashStateReport> report =
      ExploreCrashStates(loaded.cases[0], references,
                         {.bound = finding.bound,
                          .lying_bound = finding.bound,
                          .save = finding.save,
                          .only = finding.finding.id});
  // The id is well-formed, so the error means that no crash leaves this state
  // any more, for example after a fix.
  if (report.status().code() == Code::kInvalidArgument) {
    return NotFound("no cut leaves this disk any more");
  }
  RETURN_IF_ERROR(report.status());
  if (report->findings.empty()) return NotFound("recovery gets it right");
  return std::move(report->findings.front());
}

}  // namespace gauntlet
