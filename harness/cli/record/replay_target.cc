#include "harness/cli/record/replay_target.h"

#include <algorithm>
#include <climits>
#include <filesystem>
#include <functional>
#include <string_view>
#include <utility>

#include "chaos/inject/plan/plan.h"
#include "engine/cli/flags/flags.h"
#include "engine/real/storage/posix_storage.h"
#include "harness/cli/run_folders/run_directory.h"
#include "harness/cli/run_folders/stored_records.h"
#include "harness/cli/run_folders/stored_runs.h"
#include "harness/explore/campaign/crash_finding_file.h"
#include "harness/explore/crash/crash_image_id.h"
#include "harness/record/json_fields.h"
#include "harness/record/record_file.h"
#include "harness/record/result/result_file.h"
#include "harness/run/files/text_file.h"
#include "harness/scenario/format/diagnostic.h"
#include "harness/scenario/scenario.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

Result<std::vector<Case>> LoadCases(const fs::path& file, std::string& errors) {
  PosixStorage storage;
  ASSIGN_OR_RETURN(const std::string text,
                   ReadFile(storage, file.string(), kMaxScenarioBytes));
  LoadedFile loaded = LoadScenarios(text, file.string());
  if (loaded.errors.empty()) return std::move(loaded.cases);
  errors = RenderErrors(loaded, file.string(), text);
  return InvalidArgument(file.string() + ": is no sound scenario");
}

WorldKind WorldOf(WorldChoice choice, const std::string& recorded) {
  if (choice == WorldChoice::kReal) return WorldKind::kReal;
  if (choice == WorldChoice::kSimulated) return WorldKind::kSimulated;
  return recorded == "real" ? WorldKind::kReal : WorldKind::kSimulated;
}

std::string BuildOf(const fs::path& run) {
  const fs::path file = run / kResultFileName;
  if (!IsFile(file)) return "";
  const Parsed<RunResult> result =
      ReadResult(ReadTextFile(file), file.string());
  return result.ok() ? result.value->build : "";
}

// `build`: the build of the program that made the record; "" if not known.
Result<ReplayTarget> TargetOfRecord(const fs::path& file, WorldChoice world,
                                    const std::string& build,
                                    std::string& errors) {
  ASSIGN_OR_RETURN(Record record, LoadRecord(file));
  const fs::path folder = file.parent_path();
  ASSIGN_OR_RETURN(Case one, CaseOfRecord(record, folder, errors));
  ReplayTarget target = {
      .item = {.one = std::move(one), .world = WorldOf(world, record.world)},
      .build = build};
  target.recorded = std::move(record);
  return target;
}

Result<std::vector<ReplayTarget>> TargetsOfScenario(const fs::path& file,
                                                    WorldChoice world,
                                                    std::string& errors) {
  ASSIGN_OR_RETURN(std::vector<Case> cases, LoadCases(file, errors));
  std::vector<ReplayTarget> targets;
  for (Case& one : cases) {
    targets.push_back(
        {.item = {.one = std::move(one), .world = WorldOf(world, "sim")}});
  }
  return targets;
}

bool IsOfAFinding(const std::string& text) {
  return text == "finding" || text.starts_with("finding-") ||
         ParseId(text).has_value();
}

// Returns the error for a path that cannot be replayed.
Status NotToBeReplayed(const fs::path& path) {
  std::error_code error;
  const fs::file_status found = fs::status(path, error);
  if (found.type() == fs::file_type::none) {
    return IoError(
        fmt::format("{}: {}", Quoted(path.string()), error.message()));
  }
  if (!fs::exists(found)) {
    return NotFound(
        fmt::format("{}: there is no such scenario, record or case's folder",
                    Quoted(path.string())));
  }
  return InvalidArgument(fmt::format(
      "{}: expected a scenario, a record or a case's folder, found {}",
      Quoted(path.string()),
      fs::is_directory(found)
          ? fmt::format("a folder without {}", kRecordFileName)
          : "what is no regular file"));
}

// Returns the files of the findings that `text` names.
std::vector<std::string> FittingFindings(const fs::path& folder,
                                         const std::string& text) {
  const bool is_image = ParseId(text).has_value();
  std::vector<std::string> fitting;
  for (const std::string& name : FilesIn(folder)) {
    const bool fits =
        is_image
            ? name.ends_with(fmt::format("-{}{}", text, kCrashFindingEnding))
            : name.starts_with(text) && (name.ends_with(".yaml") ||
                                         name.ends_with(kCrashFindingEnding));
    if (fits) fitting.push_back(name);
  }
  return fitting;
}

// Returns the error for a plan, which states faults but not the job.
Status PlanIsNoScenario(const fs::path& plan) {
  std::string name = plan.filename().string();
  name = name.substr(0, name.find('.')) + ".yaml";
  const fs::path scenario = plan.parent_path() / name;
  return InvalidArgument(fmt::format(
      "{}: a plan alone is no case: expected a scenario{}; gauntlet train "
      "--plan takes a plan",
      plan.string(),
      IsFile(scenario) ? fmt::format(", such as {}", scenario.string()) : ""));
}

// Returns the error for an argument that is the result file of a run: the file
// covers all cases, but one case is expected.
Status ResultIsNoCase(const fs::path& file) {
  const fs::path run = file.has_parent_path() ? file.parent_path() : ".";
  const std::vector<std::string> folders = FoldersIn(run);
  const auto recorded =
      std::ranges::find_if(folders, [&run](const std::string& name) {
        return IsFile(run / name / kRecordFileName);
      });
  return InvalidArgument(fmt::format(
      "{}: the result of a run is no case: expected the folder of a case{}; "
      "gauntlet report takes a result",
      file.string(),
      recorded == folders.end()
          ? ""
          : fmt::format(", such as {}", (run / *recorded).string())));
}

// Returns "" if the file states no schema.
std::string SchemaOf(const fs::path& file) {
  const std::string text = ReadTextFile(file);
  if (NestsTooDeeply(text)) return "";
  const Json object = Json::parse(text, nullptr, false);
  if (!object.is_object()) return "";
  const auto schema = object.find("schema");
  if (schema == object.end() || !schema->is_string()) return "";
  return schema->get<std::string>();
}

Status JsonIsNoScenario(const fs::path& file) {
  return SchemaOf(file).starts_with("gauntlet.result/")
             ? ResultIsNoCase(file)
             : PlanIsNoScenario(file);
}

// Returns the findings of an exploration that have a scenario.
Result<std::vector<ReplayTarget>> TargetsOfFindings(const fs::path& folder,
                                                    WorldChoice world,
                                                    std::string& errors) {
  std::vector<ReplayTarget> targets;
  for (const std::string& name : FilesIn(folder)) {
    if (!name.ends_with(".yaml")) continue;
    ASSIGN_OR_RETURN(auto found,
                     TargetsOfScenario(folder / name, world, errors));
    std::ranges::move(found, std::back_inserter(targets));
  }
  if (!targets.empty()) return targets;
  return NotFound(fmt::format(
      "{}: no finding in it is a scenario; a crash state is replayed by its "
      "file",
      folder.string()));
}

Result<std::vector<ReplayTarget>> TargetsOfRun(const ReplayCommand& command,
                                               std::string& errors) {
  ASSIGN_OR_RETURN(const RunTarget run,
                   PickRunTarget(command.target, command.runs_directory));
  const std::string& case_name = run.case_name;
  const fs::path findings = run.folder / kFindingsFolder;
  if (IsFolder(findings)) {
    if (case_name.empty()) {
      return TargetsOfFindings(findings, command.world, errors);
    }
    return NotFound(fmt::format("finding {}: there is none in {}",
                                Quoted(case_name), findings.string()));
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> folders,
                   PickCases(run.folder, case_name, command.world));
  // Reads the result once for all cases, as it may be long.
  const std::string build = BuildOf(run.folder);
  std::vector<ReplayTarget> targets;
  for (const std::string& folder : folders) {
    ASSIGN_OR_RETURN(ReplayTarget target,
                     TargetOfRecord(run.folder / folder / kRecordFileName,
                                    command.world, build, errors));
    targets.push_back(std::move(target));
  }
  return targets;
}

// kInvalidArgument: no folder of a case can have this name.
Status CheckCaseName(const std::string& name) {
  constexpr size_t kMostBytes = NAME_MAX - std::string_view(".real").size();
  if (name.size() <= kMostBytes && name.find('/') == name.npos)
    return OkStatus();
  return ExpectedValue(fmt::format("the name of a case, without a slash and of "
                                   "at most {} bytes",
                                   kMostBytes),
                       name);
}

}  // namespace

Result<Case> CaseOfRecord(const Record& record, const fs::path& folder,
                          std::string& errors) {
  RETURN_IF_ERROR(Annotate(CheckCaseName(record.case_name),
                           (folder / kRecordFileName).string() + ": case"));
  const bool is_stored = IsFile(folder / kScenarioFileName);
  const fs::path file =
      is_stored ? folder / kScenarioFileName : fs::path(record.file);
  if (!is_stored && !IsFile(file)) {
    return NotFound(fmt::format(
        "{}: expected the scenario of the case, found none; {}, which the case "
        "was read from, is gone too",
        (folder / kScenarioFileName).string(), Quoted(file.string())));
  }
  ASSIGN_OR_RETURN(std::vector<Case> cases, LoadCases(file, errors));
  const auto found = std::ranges::find_if(cases, [&](const Case& one) {
    return is_stored || one.name == record.case_name;
  });
  if (found == cases.end()) {
    return NotFound(fmt::format("{}: there is no case {} in it any more",
                                file.string(), Quoted(record.case_name)));
  }
  Case one = std::move(*found);
  // `gauntlet run --seed` may have replaced the seed of the file.
  if (const auto recorded = PlanFromJson(record.plan_json); recorded.ok()) {
    one.seed = one.plan.seed = recorded->seed;
  }
  if (PlanToJson(one.plan) != record.plan_json) {
    return InvalidArgument(
        fmt::format("{}: the faults of {} are not those of the record any more",
                    file.string(), Quoted(record.case_name)));
  }
  one.name = record.case_name;
  one.scenario = record.scenario;
  one.file = record.file;
  one.line = record.line;
  return one;
}

Result<std::string> FindFindingFile(const ReplayCommand& command) {
  const size_t slash = command.target.find('/');
  const bool has_run = slash != std::string::npos;
  const std::string text =
      has_run ? command.target.substr(slash + 1) : command.target;
  if (!IsOfAFinding(text)) return std::string();
  const fs::path runs = command.runs_directory;
  std::vector<std::string> ids = FoldersIn(runs);
  if (has_run) {
    const Result<std::string> run =
        PickName("run", command.target.substr(0, slash), ids);
    if (!run.ok()) return std::string();
    ids = {*run};
  }
  // Newest first: runs are named after their start times.
  std::ranges::sort(ids, std::greater());
  for (const std::string& id : ids) {
    const fs::path folder = runs / id / kFindingsFolder;
    const std::vector<std::string> fitting = FittingFindings(folder, text);
    if (fitting.empty()) continue;
    // Files with the same id describe the same crash state, so any of them will
    // do.
    ASSIGN_OR_RETURN(const std::string name,
                     ParseId(text) ? Result<std::string>(fitting.front())
                                   : PickName("finding", text, fitting));
    return (folder / name).string();
  }
  return std::string();
}

Result<std::vector<ReplayTarget>> FindReplayTargets(
    const ReplayCommand& command, std::string& errors) {
  fs::path path = command.target;
  if (IsFile(path / kRecordFileName)) path /= kRecordFileName;
  if (!IsFile(path)) {
    if (IsOfAFinding(command.target)) {
      return NotFound(fmt::format(
          "finding {}: there is none in {}/*/findings; for an exploration "
          "with --out, give the path of the file; for runs kept elsewhere, "
          "give --runs DIR",
          Quoted(command.target), command.runs_directory));
    }
    const bool can_only_be_here =
        IsFolder(path) && !IsFolder(fs::path(command.runs_directory));
    const bool is_run = !(LooksLikeAPath(command.target) || can_only_be_here) ||
                        IsFolderOfRun(path) ||
                        IsFolderOfRun(path.parent_path());
    return is_run ? TargetsOfRun(command, errors) : NotToBeReplayed(path);
  }
  if (path.extension() == ".json") return JsonIsNoScenario(path);
  if (path.extension() == ".yaml" || path.extension() == ".yml") {
    return TargetsOfScenario(path, command.world, errors);
  }
  if (path.extension() != ".jsonl") {
    return InvalidArgument(fmt::format(
        "{}: expected a scenario (a file that ends in .yaml or .yml), a {} or "
        "a case's folder; a case of the last run: gauntlet replay latest/CASE",
        Quoted(path.string()), kRecordFileName));
  }
  ASSIGN_OR_RETURN(
      ReplayTarget target,
      TargetOfRecord(path, command.world,
                     BuildOf(path.parent_path().parent_path()), errors));
  std::vector<ReplayTarget> targets;
  targets.push_back(std::move(target));
  return targets;
}

}  // namespace gauntlet
