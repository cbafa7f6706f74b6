#include "harness/cli/explore/crash_states_command.h"

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "chaos/sim/disk/durability_profile.h"
#include "engine/cli/exit_code.h"
#include "engine/real/host/real_host.h"
#include "engine/real/posix/system_clock.h"
#include "engine/text/counted.h"
#include "harness/cli/explore/case_command.h"
#include "harness/cli/explore/crash_states_text.h"
#include "harness/cli/explore/explore_interruption.h"
#include "harness/cli/explore/explore_json.h"
#include "harness/cli/explore/explore_progress.h"
#include "harness/cli/explore/explore_report.h"
#include "harness/cli/explore/explore_text.h"
#include "harness/explore/campaign/crash_finding_file.h"
#include "harness/explore/crash/crash_states.h"
#include "reports/html/page/text.h"
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string RenderCrashStateSummary(const CrashStateReport& report,
                                    const CrashStatesEnd& end) {
  const CrashStateTotals totals = TotalsOf(report);
  std::string text = fmt::format(
      "{}: {}, {} in {:.1f}s ({:.0f} a second): {} passed, {} failed{}\n",
      end.name, Counted(totals.points, "crash point"),
      Counted(totals.distinct, "distinct crash state"), end.seconds,
      end.seconds > 0 ? static_cast<double>(totals.distinct) / end.seconds
                      : 0.0,
      totals.distinct - report.images_failed, report.images_failed,
      report.images_failed == 0
          ? ""
          : fmt::format(" (in {})",
                        Counted(report.outcomes_failed, "outcome")));
  text += RenderCrashStateParts(report);
  text += fmt::format("  determinism  {} recovered twice, {} differed\n",
                      Counted(report.ran_twice, "crash state"),
                      report.nondeterministic);
  if (!report.finished()) {
    text += fmt::format("  unfinished   {}\n",
                        fmt::join(UnfinishedParts(report), ", "));
  }
  return text;
}

std::string ToJson(const Case& base, const CrashStateReport& report,
                   const std::vector<WrittenCrashFinding>& written,
                   const CrashStatesEnd& end) {
  const CrashStateTotals totals = TotalsOf(report);
  const Json json = {
      {"schema", kExploreSchema},
      {"base", base.name},
      {"mode", "crash-states"},
      {"end", end.name},
      {"complete", report.complete()},
      {"unfinished", UnfinishedParts(report)},
      {"cases", totals.distinct},
      {"seconds", end.seconds},
      {"per_second", end.seconds > 0
                         ? static_cast<double>(totals.distinct) / end.seconds
                         : 0.0},
      {"findings", CrashFindingsToJson(written)},
      {"failed", report.images_failed},
      {"failed_outcomes", report.outcomes_failed},
      {"ran_twice", report.ran_twice},
      {"nondeterministic", report.nondeterministic},
      // This mode has no fault points. It has crash points, which are the
      // moments after disk operations.
      {"points_hit", nullptr},
      {"points_total", nullptr},
      {"crash_points", totals.points},
      {"outcomes", totals.enumerated},
      {"left_out", totals.left_out},
      {"parts", CrashStatePartsToJson(report)},
  };
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

// Shows progress and decides when the search stops.
class Watch {
 public:
  Watch(const CrashStatesTask& task, Console& console)
      : task_(task),
        console_(console),
        limits_{.time = task.time, .cases = task.command.cases},
        progress_(clock_, console.err, console.err_style) {}

  double Seconds() const {
    return std::chrono::duration<double>(clock_.Now() - begin_).count();
  }
  bool interrupted() const { return host_.TerminationNotices() > 0; }
  // Returns interrupted(). If it is true, prints that the search stops.
  bool NoteInterrupt() {
    if (!interrupted()) return false;
    progress_.PrintStopping();
    return true;
  }

  Proceed See(const CrashStateReport& report) {
    if (progress_.IsDue()) {
      progress_.Show(StatusOf(report, Seconds(), limits_));
    }
    late_ = task_.time && clock_.Now() - begin_ >= *task_.time;
    return interrupted() || late_ ? Proceed::kStop : Proceed::kContinue;
  }

  std::string_view EndOf(const CrashStateReport& report) const {
    if (report.complete()) return "done: all";
    if (report.finished()) return "done: all within --max-states";
    if (interrupted()) return "interrupted";
    const size_t stop_after = task_.command.stop_after;
    if (stop_after > 0 && report.images_failed >= stop_after) {
      return "stopped: enough findings";
    }
    return late_ ? "stopped by --time" : "stopped by --cases";
  }

  void Clear() { progress_.Clear(); }

 private:
  const CrashStatesTask& task_;
  Console& console_;
  const ExploreLimits limits_;
  SystemClock clock_;
  RealHost host_;
  const Time begin_ = clock_.Now();
  ExploreProgress progress_;
  bool late_ = false;
};

// Returns the parts that are searched by default. Under kLyingFsync even an
// acknowledged save may be lost. So only two windows are searched under that
// profile, to check that no torn save is loaded and that no run starts cold
// although a checkpoint existed.
std::vector<CrashStatePart> DefaultParts(
    const std::vector<CrashWindow>& windows) {
  std::vector<CrashStatePart> parts;
  for (const CrashWindow window : windows) {
    if (window == CrashWindow::kRot) {
      parts.push_back({.window = window});
      continue;
    }
    for (const DurabilityProfile profile :
         {DurabilityProfile::kExt4, DurabilityProfile::kWeak,
          DurabilityProfile::kShared}) {
      parts.push_back({.profile = profile, .window = window});
    }
    if (window == CrashWindow::kSave || window == CrashWindow::kRecovery) {
      parts.push_back(
          {.profile = DurabilityProfile::kLyingFsync, .window = window});
    }
  }
  return parts;
}

}  // namespace

CrashStateOptions CrashStateOptionsOf(const ExploreCommand& command) {
  const CrashStateChoice& choice = command.crash_states;
  CrashStateOptions options = {.profiles = choice.profiles,
                               .windows = choice.windows,
                               .save = choice.save,
                               .only = choice.id,
                               .twice_every = command.verify_determinism_every,
                               .max_images = command.cases.value_or(0),
                               .shard = command.shard};
  if (command.stop_after > 0) {
    options.max_findings = options.stop_after = command.stop_after;
  }
  if (choice.profiles.empty()) options.parts = DefaultParts(choice.windows);
  if (choice.max_states) {
    options.bound.names_up_to = *choice.max_states;
    options.bound.combinations_up_to = *choice.max_states;
    options.lying_bound = options.bound;
  }
  return options;
}

WrittenCrashFinding WriteCrashState(const CrashStateFinding& finding,
                                    size_t number,
                                    const CrashStatePlace& place) {
  WrittenCrashFinding written = {.finding = finding};
  const Result<std::string> scenario = CrashScenario(place.base);
  if (!scenario.ok()) {
    written.why_no_file = scenario.status().message();
    return written;
  }
  const CrashStateOptions& options = place.options;
  const Result<fs::path> file = WriteCrashFinding(
      {.finding = finding,
       .scenario = *scenario,
       .save = options.save,
       .bound = finding.id.starts_with("lying-fsync") ? options.lying_bound
                                                      : options.bound},
      number, place.directory);
  if (file.ok()) {
    written.file = file->string();
  } else {
    written.why_no_file = file.status().message();
    written.write_status = file.status();
  }
  return written;
}

namespace {

int ExitWithout(const Status& status, const Watch& watch, const Case& base,
                Console& console) {
  if (watch.interrupted()) {
    fmt::print(console.err, "gauntlet explore: interrupted\n");
    return static_cast<int>(ExitCode::kInterrupted);
  }
  // Without the planted bug the base would pass, so the bug is the likely
  // cause.
  const bool by_the_bug =
      !base.plan.bugs.empty() && status.code() != Code::kInvalidArgument;
  fmt::print(console.err, "gauntlet explore: {}{}\n", status.message(),
             by_the_bug ? " (the base has a planted bug)" : "");
  return static_cast<int>(status.code() == Code::kInvalidArgument
                              ? ExitCode::kUsage
                              : ExitCode::kNoVerdict);
}

// Writes report.html and returns its path. On an error, prints it and returns
// "".
fs::path WritePage(const CrashStatesTask& task, const CrashStateReport& report,
                   const std::vector<WrittenCrashFinding>& written,
                   const CrashStatesEnd& end, Console& console) {
  const Result<fs::path> page =
      WriteReport(ReportOf({.base = task.base, .command = task.command}, report,
                           written, end),
                  task.command, task.directory);
  if (page.ok()) return *page;
  fmt::print(console.err, "gauntlet explore: {}\n", page.status().message());
  return "";
}

}  // namespace

int ExploreCrashStatesOf(const CrashStatesTask& task, References& references,
                         Console& console) {
  const auto& [base, command, time, directory] = task;
  const bool as_text = command.output == OutputFormat::kText;
  std::ostream& talk = as_text ? console.out : console.err;
  talk << RenderCrashStatesHead(base, command) << std::flush;
  Watch watch(task, console);
  CrashStateOptions options = CrashStateOptionsOf(command);
  options.on_progress = [&](const CrashStateReport& report) {
    return watch.See(report);
  };
  options.stop = [&] { return watch.NoteInterrupt(); };
  options.name_of = [&](const std::string& id) {
    return fmt::format("crash state {}: {}", id,
                       CommandForImage(task.command, id));
  };
  const Result<CrashStateReport> report =
      ExploreCrashStates(base, references, options);
  watch.Clear();
  if (!report.ok()) return ExitWithout(report.status(), watch, base, console);
  const CrashStatesEnd end = {.name = watch.EndOf(*report),
                              .seconds = watch.Seconds()};
  std::vector<WrittenCrashFinding> written;
  for (const CrashStateFinding& finding : report->findings) {
    written.push_back(WriteCrashState(
        finding, written.size() + 1,
        {.base = base, .options = options, .directory = directory}));
    const Status& status = written.back().write_status;
    if (!status.ok()) {
      fmt::print(console.err, "gauntlet explore: {}\n", status.message());
    }
    if (as_text) console.out << RenderCrashFinding(written.back());
  }
  console.out << (as_text ? RenderCrashStateSummary(*report, end)
                          : ToJson(base, *report, written, end));
  const fs::path page = WritePage(task, *report, written, end, console);
  if (watch.interrupted()) {
    fmt::print(console.err, "gauntlet explore: {}",
               RenderInterruption(
                   GroupedCount(TotalsOf(*report).distinct, "crash state"),
                   {.findings = written.size(),
                    .directory = directory,
                    .report = page},
                   "start the search again with: " +
                       CommandForExploration(command, 0)));
    return static_cast<int>(ExitCode::kInterrupted);
  }
  if (!page.empty()) fmt::print(talk, "  report       {}\n", page.string());
  if (report->images_failed > 0 || report->nondeterministic > 0) {
    return static_cast<int>(ExitCode::kViolated);
  }
  // If the page could not be written, WritePage has printed the error.
  return static_cast<int>(page.empty() ? ExitCode::kNoVerdict : ExitCode::kOk);
}

}  // namespace gauntlet
