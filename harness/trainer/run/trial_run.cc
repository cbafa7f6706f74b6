#include "harness/trainer/run/trial_run.h"

#include <cerrno>
#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "chaos/trace/log/operation_log.h"
#include "chaos/trace/tracer.h"
#include "engine/real/posix/posix_status.h"
#include "harness/run/files/text_file.h"
#include "harness/trainer/run/captured_output.h"
#include "harness/trainer/run/file_reads.h"
#include "harness/trainer/run/private_namespaces.h"
#include "harness/trainer/run/served_program.h"
#include "harness/trainer/run/trial.h"
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace gauntlet {
namespace {

// Makes standard input empty, so that a program that waits for a person ends.
Status EmptyStandardInput() {
  const Descriptor null(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!null.valid() || dup2(null.get(), STDIN_FILENO) < 0)
    return PosixError(errno, "/dev/null", "open");
  return OkStatus();
}

TrialEnd EndOf(const TraceOutcome& outcome) {
  TrialEnd end{.exit_code = outcome.exit_code,
               .signal = outcome.signal,
               .is_killed = outcome.is_killed,
               .is_timed_out = outcome.is_timed_out,
               .background_processes = outcome.background_processes,
               .notes = outcome.notes};
  for (const InjectedFault& fault : outcome.injected)
    end.injected_at.push_back(DescribeFileOperation(fault.operation));
  return end;
}

Result<TraceOutcome> RunTraced(const TrainerTrial& trial,
                               const CapturedOutput& output,
                               OperationLog* log) {
  return Trace({.arguments = trial.arguments,
                .working_directory = trial.working_directory,
                .environment = trial.environment,
                .output = output.descriptor()},
               {.directories = trial.directories,
                .log = log,
                .injections = trial.injections,
                .ranks_take_turns = trial.ranks_take_turns,
                .background_grace = trial.background_grace,
                .time_limit = trial.time_limit,
                .keyboard = KeyboardSignals::kLeft});
}

Result<TrialEnd> RunHere(const TrainerTrial& trial) {
  RETURN_IF_ERROR(EmptyStandardInput());
  std::optional<OperationLog> log;
  if (!trial.log_folder.empty()) {
    ASSIGN_OR_RETURN(log,
                     OperationLog::Create(trial.log_folder, trial.directories,
                                          trial.log_limits));
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<CapturedOutput> output,
                   CapturedOutput::Start(trial.output_file));
  ASSIGN_OR_RETURN(const std::unique_ptr<FileReadWatch> reads,
                   FileReadWatch::Start(trial.directories));
  const auto start = std::chrono::steady_clock::now();
  ASSIGN_OR_RETURN(const TraceOutcome outcome,
                   trial.fork_server.empty()
                       ? RunTraced(trial, *output, log ? &*log : nullptr)
                       : RunServedProgram(trial, output->descriptor()));
  TrialEnd end = EndOf(outcome);
  end.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  FileReads seen = reads->Stop();
  end.reads = std::move(seen.files);
  end.made = std::move(seen.made);
  end.are_reads_complete = seen.is_complete;
  if (!output->Finish()) {
    end.notes.push_back(fmt::format(
        "the program printed more than {} MiB: the rest is not kept",
        kMostOutput >> 20U));
  }
  if (log) RETURN_IF_ERROR(log->Save());
  return end;
}

// Turns exceptions into a Status: libraries throw if memory or the disk is
// full.
Result<TrialEnd> RunOrFail(const TrainerTrial& trial) {
  try {
    return RunHere(trial);
  } catch (const std::exception& error) {
    return ResourceExhausted(
        fmt::format("the trial could not go on: {}", error.what()));
  }
}

int WriteEnd(const std::string& folder, const Result<TrialEnd>& end) {
  const Status written = WriteTextFile(
      folder + "/" + std::string(kTrialEndFile), TrialEndToJson(end));
  if (written.ok()) return 0;
  fmt::print(stderr, "gauntlet trial: {}\n", written.message());
  return 1;
}

}  // namespace

int RunTrialProcess(const std::string& folder) {
  // The program inherits only the standard descriptors.
  close_range(STDERR_FILENO + 1, ~0U, 0);
  const Result<TrainerTrial> trial =
      TrialFromJson(ReadTextFile(folder + "/" + std::string(kTrialFile)));
  if (!trial.ok()) return WriteEnd(folder, trial.status());
  const auto run = [&] { return WriteEnd(folder, RunOrFail(*trial)); };
  if (trial->isolation == Isolation::kNone) return run();
  const Result<int> code = RunInNamespaces(trial->mounts, trial->network, run);
  return code.ok() ? *code : WriteEnd(folder, code.status());
}

}  // namespace gauntlet
