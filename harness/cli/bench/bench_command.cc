#include "harness/cli/bench/bench_command.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "engine/cli/exit_code.h"
#include "engine/real/process/child_process.h"
#include "engine/text/counted.h"
#include "harness/bench/figures/byte_text.h"
#include "harness/bench/machine_limits.h"
#include "harness/cli/bench/bench_output.h"
#include "harness/cli/bench/bench_progress.h"
#include "harness/cli/bench/bench_text.h"
#include "harness/cli/bench/trials_folder.h"
#include "harness/cli/run_folders/run_directory.h"
#include "harness/run/files/text_file.h"
#include "reports/bench/bench_page.h"
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

constexpr const char* kBenchFolder = ".gauntlet/bench";

Status CheckDisk(const CheckpointBenchPlan& plan) {
  struct statvfs disk {};
  if (statvfs(plan.directory.c_str(), &disk) != 0) return OkStatus();
  const uint64_t free = uint64_t{disk.f_bavail} * disk.f_frsize;
  const uint64_t needed = DiskBytesFor(plan);
  if (free >= needed) return OkStatus();
  return InvalidArgument(fmt::format(
      "{}: the trials need {}, found {} free; --ckpt DIR says another disk, "
      "--state a smaller state",
      plan.directory.parent_path().string(), ByteText(needed), ByteText(free)));
}

Status CheckMemory(const CheckpointBenchPlan& plan) {
  const uint64_t free = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                        static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t needed = MemoryBytesFor(plan);
  if (free >= needed) return OkStatus();
  return InvalidArgument(
      fmt::format("--state, --workers: the trials need {} of memory, this "
                  "machine has {}",
                  ByteText(needed), ByteText(free)));
}

Result<std::optional<BenchFigures>> ReadBaseline(const std::string& file) {
  if (file.empty()) return std::optional<BenchFigures>();
  std::error_code error;
  if (!fs::is_regular_file(file, error)) {
    return InvalidArgument(fmt::format(
        "--baseline: {}: {}; expected the result.json of gauntlet bench "
        "checkpoint",
        file, error ? error.message() : "not a file"));
  }
  Parsed<BenchFigures> read = ReadBenchFigures(ReadTextFile(file), file);
  if (!read.ok()) return InvalidArgument("--baseline: " + read.error);
  return std::optional(*std::move(read.value));
}

// Returns the parent of the folder of trials. A benchmark deletes the trials of
// a killed earlier benchmark only if both use the same parent. Without --out,
// each benchmark creates a new folder in .gauntlet/bench, so its trials go next
// to this folder and not into it.
fs::path TrialsParent(const BenchCheckpointCommand& command,
                      const fs::path& out) {
  if (!command.trial_directory.empty()) return command.trial_directory;
  return command.out_directory.empty() ? out.parent_path() : out;
}

CheckpointBenchPlan BenchPlanOf(const BenchCheckpointCommand& command,
                                const fs::path& trials) {
  return {.program = kThisProgram,
          .directory = trials,
          .modes = command.modes,
          .state_bytes = command.state_bytes,
          .every = command.every,
          .workers = command.workers,
          .shards = command.shards,
          .trials = command.trials,
          .saves = command.saves,
          .restart = command.restart,
          .seed = command.seed,
          .goodput = command.goodput};
}

class CheckpointBenchRun {
 public:
  CheckpointBenchRun(const BenchCheckpointCommand& command, Console& console)
      : command_(command), console_(console) {}

  // kInvalidArgument: the command line is wrong, and nothing was measured.
  // Other errors: the results could not be written, perhaps after the
  // measurement.
  Result<ExitCode> Run();

 private:
  Result<ExitCode> Measure(const BenchOutput& out);
  void Print(const CheckpointResult& result);
  ExitCode ReportOutcome(const CheckpointResult& result);

  const BenchCheckpointCommand& command_;
  Console& console_;
  std::optional<BenchFigures> baseline_;
};

Result<ExitCode> CheckpointBenchRun::Run() {
  ASSIGN_OR_RETURN(baseline_, ReadBaseline(command_.baseline_file));
  const CheckpointBenchPlan plan = BenchPlanOf(command_, "");
  if (baseline_) {
    RETURN_IF_ERROR(
        CheckBaseline(*baseline_, command_.limits, ConfigsOf(plan)));
  }
  RETURN_IF_ERROR(CheckMemory(plan));
  if (!command_.out_directory.empty()) {
    TrialsFolder::RemoveLeftBehind(command_.out_directory);
  }
  ASSIGN_OR_RETURN(const BenchOutput out,
                   BenchOutput::Make(command_.out_directory, kBenchFolder));
  Result<ExitCode> code = Measure(out);
  out.RemoveIfEmpty();
  return code;
}

Result<ExitCode> CheckpointBenchRun::Measure(const BenchOutput& out) {
  ASSIGN_OR_RETURN(const fs::path absolute,
                   AbsoluteFolder(TrialsParent(command_, out.path())));
  const Result<std::unique_ptr<TrialsFolder>> made =
      TrialsFolder::Make(absolute);
  if (!made.ok()) {
    return InvalidArgument(fmt::format(
        "{}; the trials need a folder in which they can write: choose another "
        "one with --ckpt DIR",
        made.status().message()));
  }
  const TrialsFolder& trials = **made;
  const CheckpointBenchPlan plan = BenchPlanOf(command_, trials.path());
  RETURN_IF_ERROR(CheckDisk(plan));
  BenchContext context = DescribeMachine(trials.path());
  context.version = GAUNTLET_VERSION;
  if (baseline_) {
    const std::string difference =
        ContextDifference(baseline_->context, context);
    if (!difference.empty()) {
      return InvalidArgument(fmt::format("--baseline: {}: {}",
                                         command_.baseline_file, difference));
    }
  }
  BenchProgress progress(console_);
  Result<CheckpointResult> result = RunCheckpointBench(plan, progress);
  progress.Clear();
  if (!result.ok()) {
    fmt::print(console_.err, "gauntlet bench checkpoint: {}\n",
               result.status().message());
    return ExitWithoutFigures(result.status());
  }
  result->context = context;
  result->between_failures =
      std::chrono::duration<double>(command_.between_failures).count();
  // Prints before it writes, so that the figures are not lost if the disk is
  // full.
  Print(*result);
  const Status written =
      out.Write(CheckpointResultToJson(*result), RenderBenchPage(*result));
  if (!written.ok()) {
    console_.Flush();
    fmt::print(console_.err, "gauntlet bench checkpoint: {}\n",
               written.message());
    return ExitCode::kNoVerdict;
  }
  if (command_.output == OutputFormat::kText) {
    fmt::print(console_.out, "report  {}\n", out.report().string());
  }
  return ReportOutcome(*result);
}

void CheckpointBenchRun::Print(const CheckpointResult& result) {
  if (command_.output == OutputFormat::kJson) {
    console_.out << CheckpointResultToJson(result);
    return;
  }
  console_.out << CheckpointResultToText(result);
  if (baseline_) console_.out << ComparisonText(result, *baseline_);
}

ExitCode CheckpointBenchRun::ReportOutcome(const CheckpointResult& result) {
  console_.Flush();
  if (result.interrupted || !result.failure.empty()) {
    fmt::print(console_.err,
               "gauntlet bench checkpoint: {}; the figures cover the finished "
               "trials{}\n",
               result.interrupted ? "interrupted" : result.failure,
               command_.limits.empty() ? "" : ", and limits were not checked");
    return result.interrupted ? ExitCode::kInterrupted : ExitCode::kViolated;
  }
  const auto voided = std::ranges::count_if(
      result.figures,
      [](const CheckpointFigures& one) { return !one.voided.empty(); });
  const std::vector<std::string> broken =
      BrokenLimits(result, command_.limits, baseline_ ? &*baseline_ : nullptr);
  for (const std::string& line : broken) {
    fmt::print(console_.err, "gauntlet bench checkpoint: limit {}\n", line);
  }
  if (voided > 0) {
    fmt::print(console_.err,
               "gauntlet bench checkpoint: {} void: the trained state is not "
               "that of the run without checkpoints\n",
               Counted(static_cast<uint64_t>(voided), "configuration"));
    return ExitCode::kViolated;
  }
  return broken.empty() ? ExitCode::kOk : ExitCode::kLimitBroken;
}

}  // namespace

int RunBenchCheckpoint(const BenchCheckpointCommand& command,
                       Console& console) {
  InstallSignalHandlers();
  ExitOnSecondInterrupt(static_cast<int>(ExitCode::kInterrupted));
  const Result<ExitCode> code = CheckpointBenchRun(command, console).Run();
  if (code.ok()) return static_cast<int>(*code);
  fmt::print(console.err, "gauntlet bench checkpoint: {}\n",
             code.status().message());
  return static_cast<int>(ExitCode::kUsage);
}

}  // namespace gauntlet
