#include "harness/cli/crash_test/crash_test_command.h"

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "engine/cli/exit_code.h"
#include "engine/cli/terminal/status_line.h"
#include "engine/real/host/real_host.h"
#include "engine/real/posix/system_clock.h"
#include "engine/real/process/child_process.h"
#include "engine/text/counted.h"
#include "harness/cli/crash_test/crash_test_files.h"
#include "harness/cli/crash_test/crash_test_text.h"
#include "harness/cli/run_folders/run_directory.h"
#include "harness/trainer/crash_test.h"
#include "harness/trainer/verdict/crash_test_json.h"
#include <fmt/format.h>
#include <fmt/ostream.h>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCrashTestFolder = ".gauntlet/crash-tests";

class Progress final : public CrashTestProgress {
 public:
  explicit Progress(Console& console)
      : line_(clock_, console.err, console.err_style) {}

  void OnStage(std::string_view stage) override {
    const std::lock_guard lock(mutex_);
    stage_ = stage;
    line_.Draw(stage_);
  }
  void OnTrial(const CrashTrial& trial, uint64_t done) override {
    const std::lock_guard lock(mutex_);
    line_.Draw(
        fmt::format("{}: {}, {}", stage_, Counted(done, "trial"), trial.id));
  }
  void Clear() { line_.Clear(); }
  // Must not be called during the test.
  const std::string& stage() const { return stage_; }

 private:
  std::mutex mutex_;
  SystemClock clock_;
  StatusLine line_;
  std::string stage_;
};

// Creates the folder of the test, with an absolute path.
Result<OutputFolder> MakeCrashTestOutput(const std::string& out) {
  if (!out.empty()) {
    ASSIGN_OR_RETURN(OutputFolder folder, MakeFindingsDirectory(out, ""));
    ASSIGN_OR_RETURN(folder.path, AbsoluteFolder(folder.path));
    return folder;
  }
  Result<OutputFolder> made = MakeRunOutput(kCrashTestFolder);
  if (made.ok()) return made;
  return ChooseAnotherFolder(made.status(), "--out");
}

// Returns the path relative to the current directory if the folder is below it.
fs::path ShownPath(const fs::path& folder) {
  std::error_code error;
  const fs::path relative = fs::proximate(folder, error);
  const bool is_below = !error && *relative.begin() != "..";
  return is_below ? relative : folder;
}

ExitCode CrashTestExit(const Status& status) {
  switch (status.code()) {
    case Code::kInvalidArgument:
    case Code::kForbidden:
      return ExitCode::kUsage;
    case Code::kCancelled:
      return ExitCode::kInterrupted;
    default:
      return ExitCode::kNoVerdict;
  }
}

}  // namespace

ExitCode CrashTestExit(const CrashTestResult& result) {
  if (result.trials_end == TrialsEnd::kInterrupted)
    return ExitCode::kInterrupted;
  if (!result.findings.empty()) return ExitCode::kViolated;
  const bool is_known =
      std::ranges::any_of(result.verdicts, [](const CrashVerdict& verdict) {
        return verdict.verdict != RecoveryVerdict::kResumePointUnknown;
      });
  return result.no_verdict.empty() && is_known ? ExitCode::kOk
                                               : ExitCode::kNoVerdict;
}

int RunCrashTest(const CrashTestCommand& command, Console& console) {
  const auto refuse = [&](const Status& status) {
    fmt::print(console.err, "gauntlet crash-test: {}\n", status.message());
    return static_cast<int>(CrashTestExit(status));
  };
  const Result<OutputFolder> folder =
      MakeCrashTestOutput(command.out_directory);
  if (!folder.ok()) return refuse(folder.status());
  InstallSignalHandlers();
  ExitOnSecondInterrupt(static_cast<int>(ExitCode::kInterrupted));
  const RealHost host;
  Progress progress(console);
  Result<CrashTestResult> result = RunCrashTest(
      *command.plan,
      {.program = kThisProgram,
       .interrupted = [&host] { return host.TerminationNotices() > 0; }},
      folder->path, progress);
  progress.Clear();
  if (!result.ok()) {
    // The crash test failed before any crash was tried, so the folder is
    // removed.
    RemoveWithParents(*folder);
    return refuse(result.status().code() == Code::kCancelled
                      ? Cancelled(InterruptBeforeTrialsText(progress.stage()))
                      : result.status());
  }
  const Status written = WriteCrashTestFiles(*result, folder->path);
  console.out << (command.output == OutputFormat::kJson
                      ? CrashTestResultToJson(*result)
                      : CrashTestResultToText(*result,
                                              ShownPath(folder->path)));
  console.Flush();
  if (!written.ok()) {
    fmt::print(console.err, "gauntlet crash-test: {}\n",
               ChooseAnotherFolder(written, "--out").message());
  }
  if (result->trials_end == TrialsEnd::kInterrupted) {
    fmt::print(console.err, "gauntlet crash-test: {}\n",
               UntriedCrashesText(*result));
  }
  return static_cast<int>(CrashTestExit(*result));
}

}  // namespace gauntlet
