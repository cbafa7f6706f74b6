#include "harness/explore/crash_finding_file.h"

#include <system_error>
#include <utility>

#include "harness/explore/crash_image_id.h"
#include "harness/explore/free_name.h"
#include "harness/run/text_file.h"
#include "harness/scenario/write_scenario.h"
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::string_view kSchema = "gauntlet/crash-state/v1";
constexpr size_t kFields = 10;

Status Expected(std::string_view key, std::string_view what) {
  return InvalidArgument(
      fmt::format("a crash state's file: {}: expected {}", key, what));
}

Status ReadText(const Json& json, const char* key, std::string& out) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_string()) {
    return Expected(key, "a text");
  }
  out = found->get<std::string>();
  return OkStatus();
}

Status ReadNumber(const Json& json, const char* key, uint64_t& out) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number_unsigned()) {
    return Expected(key, "a whole number");
  }
  out = found->get<uint64_t>();
  return OkStatus();
}

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
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return Expected("the whole", "a JSON object");
  CrashFinding finding;
  std::string schema;
  RETURN_IF_ERROR(ReadText(json, "schema", schema));
  if (schema != kSchema) return Expected("schema", kSchema);
  if (json.size() != kFields) return Expected("the whole", "no other keys");
  RETURN_IF_ERROR(ReadText(json, "id", finding.finding.id));
  RETURN_IF_ERROR(ReadText(json, "event", finding.finding.event));
  RETURN_IF_ERROR(ReadText(json, "expected", finding.finding.expected));
  RETURN_IF_ERROR(ReadText(json, "found", finding.finding.found));
  RETURN_IF_ERROR(ReadText(json, "scenario", finding.scenario));
  CrashBound& bound = finding.bound;
  RETURN_IF_ERROR(ReadNumber(json, "save", finding.save));
  RETURN_IF_ERROR(ReadNumber(json, "names_up_to", bound.names_up_to));
  RETURN_IF_ERROR(ReadNumber(json, "contents_up_to", bound.contents_up_to));
  RETURN_IF_ERROR(
      ReadNumber(json, "combinations_up_to", bound.combinations_up_to));
  if (!ParseId(finding.finding.id)) {
    return Expected("id", "one such as weak-save-17-3-0.2");
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
  return WriteUnderAFreeName(
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
  if (loaded.cases.size() != 1) {
    return InvalidArgument("a crash state's file: scenario: " +
                           RenderErrors(loaded, "scenario", finding.scenario));
  }
  Result<CrashStateReport> report =
      ExploreCrashStates(loaded.cases[0], references,
                         {.bound = finding.bound,
                          .lying_bound = finding.bound,
                          .save = finding.save,
                          .only = finding.finding.id});
  // The id is one; what is mended may leave other disks.
  if (report.status().code() == Code::kInvalidArgument) {
    return NotFound("no cut leaves this disk any more");
  }
  RETURN_IF_ERROR(report.status());
  if (report->findings.empty()) return NotFound("recovery gets it right");
  return std::move(report->findings.front());
}

}  // namespace gauntlet
