#include "harness/cli/explore_command.h"

#include <ctime>
#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "engine/digest.h"
#include "engine/real/posix_storage.h"
#include "engine/real/real_host.h"
#include "engine/real/system_clock.h"
#include "harness/cli/crash_states_command.h"
#include "harness/cli/exit_code.h"
#include "harness/cli/explore_base.h"
#include "harness/cli/explore_progress.h"
#include "harness/cli/explore_text.h"
#include "harness/cli/scenario_files.h"
#include "harness/explore/campaign.h"
#include "harness/explore/finding_files.h"
#include "harness/run/text_file.h"
#include "harness/scenario/scenario.h"
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <unistd.h>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

// The one case to explore. kInvalidArgument: the message says it all.
Result<Case> LoadBase(const ExploreCommand& command) {
  std::string name(ExploreBase().name);
  std::string text(ExploreBase().text);
  if (!command.base_file.empty()) {
    PosixStorage storage;
    name = command.base_file;
    ASSIGN_OR_RETURN(text, ReadFile(storage, name, kMaxScenarioBytes));
  }
  const LoadedFile loaded = LoadScenarios(text, name);
  if (!loaded.errors.empty()) {
    return InvalidArgument(RenderErrors(loaded, name, text));
  }
  std::vector<Case> cases;
  for (const Case& one : loaded.cases) {
    if (one.name.find(command.name_filter) != one.name.npos) {
      cases.push_back(one);
    }
  }
  if (cases.size() == 1) return cases.front();
  return InvalidArgument(fmt::format(
      "gauntlet explore: {}: expected one case, found {} of {}; --name picks "
      "one\n",
      name, cases.size(), loaded.cases.size()));
}

fs::path FindingsDirectory(const ExploreCommand& command) {
  if (!command.out_directory.empty()) return command.out_directory;
  const std::time_t now = std::time(nullptr);
  return fs::path(command.runs_directory) /
         fmt::format("{:%Y%m%dT%H%M%S}-{}", fmt::gmtime(now), getpid()) /
         "findings";
}

CampaignOptions OptionsOf(const ExploreCommand& command, uint64_t seed) {
  return {.mode = command.mode == ExploreMode::kNth ? CampaignMode::kNth
                                                    : CampaignMode::kRandom,
          .seed = seed,
          .only_case = command.only_case,
          .max_cases = command.cases,
          .time = command.time,
          .threads = command.jobs,
          .max_faults = command.max_faults,
          .kinds = command.kinds,
          .points = command.points,
          .twice_every = command.twice_every,
          .stop_after = command.stop_after,
          .shrink = {}};
}

class Explorer final : public CampaignObserver {
 public:
  Explorer(const ExploreCommand& command, Console& console)
      : command_(command),
        console_(console),
        text_(command.output == OutputFormat::kText),
        directory_(FindingsDirectory(command)),
        progress_(clock_, console.err, console.err_style) {}

  Result<int> Run(const Case& base, uint64_t seed) {
    std::ostream& talk = text_ ? console_.out : console_.err;
    talk << RenderExploreHead(base, command_, seed) << std::flush;
    References references("", "explore");
    ASSIGN_OR_RETURN(const CampaignReport report,
                     RunCampaign(base, OptionsOf(command_, seed), references,
                                 clock_, *this));
    progress_.Clear();
    if (text_) {
      console_.out << RenderCampaign(report, command_);
    } else {
      console_.out << CampaignToJson(report, files_, command_, seed);
    }
    if (!write_status_.ok()) {
      fmt::print(console_.err, "gauntlet explore: {}\n",
                 write_status_.message());
    }
    return ExitCodeFor(report);
  }

  void Progress(const CampaignReport& report) override {
    progress_.Show(report);
  }

  void Found(const CampaignFinding& finding) override {
    progress_.Clear();
    const Result<FindingFiles> files = WriteFinding(finding, directory_);
    if (files.ok()) {
      files_.push_back(*files);
    } else {
      write_status_ = files.status();
      files_.push_back(
          {.scenario = {}, .why_no_scenario = files.status().message()});
    }
    std::ostream& talk = text_ ? console_.out : console_.err;
    talk << RenderFound(finding, files_.back()) << std::flush;
  }

  bool Interrupted() override { return host_.TerminationNotices() > 0; }

 private:
  int ExitCodeFor(const CampaignReport& report) const {
    if (report.end == CampaignEnd::kInterrupted) {
      return static_cast<int>(ExitCode::kInterrupted);
    }
    if (!report.findings.empty() || report.nondeterministic > 0) {
      return static_cast<int>(ExitCode::kViolated);
    }
    if (report.cases == 0 && report.end == CampaignEnd::kExhausted) {
      fmt::print(console_.err,
                 "gauntlet explore: nothing selected: no fault of these kinds "
                 "means anything at these points\n");
      return static_cast<int>(ExitCode::kNothingSelected);
    }
    if (command_.require_marks && !MissedMarks(report).empty()) {
      fmt::print(console_.err,
                 "gauntlet explore: marks that were not met: {}\n",
                 MissedMarks(report).size());
      return static_cast<int>(ExitCode::kViolated);
    }
    return static_cast<int>(ExitCode::kHeld);
  }

  const ExploreCommand& command_;
  Console& console_;
  const bool text_;
  const fs::path directory_;
  SystemClock clock_;
  RealHost host_;
  ExploreProgress progress_;
  std::vector<FindingFiles> files_;  // by the findings' order
  Status write_status_;
};

}  // namespace

int RunExplore(const ExploreCommand& command, Console& console) {
  InstallSignalHandlers();
  const Result<Case> base = LoadBase(command);
  if (!base.ok()) {
    console.err << base.status().message();
    return static_cast<int>(ExitCode::kUsage);
  }
  if (command.mode == ExploreMode::kCrashStates) {
    return ExploreCrashStatesOf(*base, command, FindingsDirectory(command),
                                console);
  }
  const uint64_t seed = command.seed ? *command.seed : std::random_device()();
  const Result<int> exit_code = Explorer(command, console).Run(*base, seed);
  if (exit_code.ok()) return *exit_code;
  fmt::print(console.err, "gauntlet explore: {}\n",
             exit_code.status().message());
  return static_cast<int>(ExitCode::kNoVerdict);
}

}  // namespace gauntlet
