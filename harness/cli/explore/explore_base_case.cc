#include "harness/cli/explore/explore_base_case.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "engine/cli/flags/flags.h"
#include "engine/real/storage/posix_storage.h"
#include "engine/text/counted.h"
#include "harness/cli/run_folders/stored_records.h"
#include "harness/cli/scenario/explore_base.h"
#include "harness/cli/scenario/scenario_files.h"
#include "harness/explore/trial/base_check.h"
#include "harness/explore/trial/explore_case.h"
#include "harness/run/files/text_file.h"
#include <fmt/format.h>
#include <fmt/ostream.h>

namespace gauntlet {
namespace {

LoadedBase NoBase(std::string_view problem, ExitCode code) {
  return {.one = std::nullopt,
          .problem = fmt::format("gauntlet explore: {}\n", problem),
          .code = code};
}

// Returns the cases whose names contain the filter. If a name equals the
// filter, returns only that case.
std::vector<Case> Fitting(const std::vector<Case>& cases,
                          const std::string& filter) {
  std::vector<Case> fitting;
  for (const Case& one : cases) {
    if (one.name == filter) return {one};
    if (one.name.find(filter) != one.name.npos) fitting.push_back(one);
  }
  return fitting;
}

LoadedBase PickBase(const LoadedFile& loaded, const std::string& name,
                    const std::string& filter) {
  const std::vector<Case> fitting = Fitting(loaded.cases, filter);
  if (fitting.size() == 1 && fitting.front().trainer) {
    return NoBase(
        fmt::format("{}: expected Gauntlet's own training job, found the "
                    "training program of {}; gauntlet crash-test explores it",
                    name, fitting.front().name),
        ExitCode::kUsage);
  }
  if (fitting.size() == 1) return {.one = fitting.front(), .problem = ""};
  if (fitting.empty()) {
    return NoBase(
        fmt::format("nothing selected: {} in {}, none with {} in "
                    "its name",
                    Counted(loaded.cases.size(), "case"), name, Quoted(filter)),
        ExitCode::kNothingSelected);
  }
  return NoBase(
      fmt::format("{}: expected one case, found {}, such as {} and {}; --name "
                  "picks one",
                  name, fitting.size(), fitting[0].name, fitting[1].name),
      ExitCode::kUsage);
}

}  // namespace

LoadedBase LoadBase(const ExploreCommand& command, Console& console) {
  if (command.base_file.empty()) {
    const DemoScenario base = ExploreBase();
    return PickBase(LoadScenarios(base.text, base.name), "the built-in base",
                    command.name_filter);
  }
  if (IsFolder(command.base_file)) {
    return NoBase(command.base_file +
                      ": expected one scenario file, found a folder; name a "
                      "file in it",
                  ExitCode::kUsage);
  }
  PosixStorage storage;
  const Result<std::string> text =
      ReadFile(storage, command.base_file, kMaxScenarioBytes);
  if (text.status().code() == Code::kNotFound) {
    return NoBase(NoSuchScenario(command.base_file, "file"), ExitCode::kUsage);
  }
  if (!text.ok()) return NoBase(text.status().message(), ExitCode::kUsage);
  const LoadedFile loaded = LoadScenarios(*text, command.base_file);
  console.err << RenderOldSpellings(loaded, command.base_file)
              << RenderWarnings(loaded, command.base_file, *text);
  if (loaded.errors.empty()) {
    return PickBase(loaded, command.base_file, command.name_filter);
  }
  return {.one = std::nullopt,
          .problem = RenderErrors(loaded, command.base_file, *text)};
}

bool BaseWatch::Interrupted() {
  if (host_.TerminationNotices() > 0) return true;
  if (done_) return false;
  const Time now = clock_.Now();
  late_ = late_ || (time_ && now - begin_ >= *time_);
  if (!late_ && now >= next_line_) {
    fmt::print(console_.err,
               "gauntlet explore: {:.0f}s, still running the base without "
               "faults\n",
               std::chrono::duration<double>(now - begin_).count());
    console_.err << std::flush;
    next_line_ = now + kLineEvery;
  }
  return late_;
}

std::optional<ExitCode> Unfit(const Case& base, References& references,
                              const BaseWatch& watch, Console& console) {
  const Result<BaseCheck> check = CheckBase(base, references);
  if (!check.ok() && watch.late()) {
    fmt::print(
        console.err,
        "gauntlet explore: inconclusive: --time was over before the base "
        "and its set-ups had run without faults. Use a longer --time.\n");
    return ExitCode::kNoVerdict;
  }
  if (!check.ok() && references.interrupted()()) {
    fmt::print(console.err, "gauntlet explore: interrupted\n");
    return ExitCode::kInterrupted;
  }
  if (!check.ok()) {
    fmt::print(console.err, "gauntlet explore: {}\n", check.status().message());
    return ExitCode::kNoVerdict;
  }
  if (!check->skipped.empty()) {
    fmt::print(console.err,
               "gauntlet explore: {}: the simulated world cannot run it: {}\n",
               base.name, check->skipped);
    return ExitCode::kNoVerdict;
  }
  if (check->failure.empty()) return std::nullopt;
  fmt::print(console.err,
             "gauntlet explore: {} fails even without faults, so nothing was "
             "tried: {}\n",
             base.name, check->failure);
  return ExitCode::kViolated;
}

bool NamesNoKindOf(const Case& base, const ExploreCommand& command,
                   Console& console) {
  const std::vector<FaultKind>& kinds = command.kinds;
  const bool none = std::ranges::none_of(
      kinds, [&](FaultKind kind) { return CanHappenTo(kind, base); });
  if (kinds.empty() || !none) return false;
  if (IsNetworkFault(kinds.front())) {
    fmt::print(console.err,
               "gauntlet explore: --kinds: {} keeps workers apart: expected a "
               "base with at least 2 workers, found 1\n",
               FaultKindName(kinds.front()));
    return true;
  }
  fmt::print(console.err,
             "gauntlet explore: --kinds: {} needs a device: expected a base "
             "with cluster.device emulated, found {}\n",
             FaultKindName(kinds.front()),
             DeviceKindName(base.train.kernels.device));
  return true;
}

bool NamesNoPointOf(const Case& base, const ExploreCommand& command,
                    Console& console) {
  if (command.points.empty()) return false;
  for (const Case& setup : SetupsOf(base)) {
    const std::vector<Point> met = SpaceOf(setup).points;
    for (const Point point : command.points) {
      if (std::ranges::find(met, point) != met.end()) return false;
    }
  }
  fmt::print(console.err,
             "gauntlet explore: --points: expected points that the base "
             "reaches, found {}\n",
             PointName(command.points.front()));
  return true;
}

}  // namespace gauntlet
