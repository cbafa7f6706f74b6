#include "harness/trainer/run/run_main.h"

#include <cerrno>
#include <chrono>
#include <cstdio>
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
#include "harness/trainer/run/trainer_run.h"
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

TrainerRunEnd EndOf(const TraceOutcome& outcome) {
  TrainerRunEnd end{.exit_code = outcome.exit_code,
                    .signal = outcome.signal,
                    .is_killed = outcome.is_killed,
                    .is_timed_out = outcome.is_timed_out,
                    .background_processes = outcome.background_processes,
                    .notes = outcome.notes};
  for (const InjectedFault& fault : outcome.injected)
    end.injected_at.push_back(DescribeFileOperation(fault.operation));
  return end;
}

Result<TraceOutcome> RunTraced(const TrainerRun& run,
                               const CapturedOutput& output,
                               OperationLog* log) {
  return Trace({.arguments = run.arguments,
                .working_directory = run.working_directory,
                .environment = run.environment,
                .output = output.descriptor()},
               {.directories = run.directories,
                .log = log,
                .injections = run.injections,
                .ranks_take_turns = run.ranks_take_turns,
                .background_grace = run.background_grace,
                .time_limit = run.time_limit,
                .keyboard = KeyboardSignals::kLeft});
}

Result<TrainerRunEnd> RunHere(const TrainerRun& run) {
  RETURN_IF_ERROR(EmptyStandardInput());
  std::optional<OperationLog> log;
  if (!run.log_folder.empty()) {
    ASSIGN_OR_RETURN(log, OperationLog::Create(run.log_folder, run.directories,
                                               run.log_limits));
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<CapturedOutput> output,
                   CapturedOutput::Start(run.output_file));
  ASSIGN_OR_RETURN(const std::unique_ptr<FileReadWatch> reads,
                   FileReadWatch::Start(run.directories));
  const auto start = std::chrono::steady_clock::now();
  ASSIGN_OR_RETURN(const TraceOutcome outcome,
                   run.fork_server.empty()
                       ? RunTraced(run, *output, log ? &*log : nullptr)
                       : RunServedProgram(run, output->descriptor()));
  TrainerRunEnd end = EndOf(outcome);
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
Result<TrainerRunEnd> RunOrFail(const TrainerRun& run) {
  try {
    return RunHere(run);
  } catch (const std::exception& error) {
    return ResourceExhausted(
        fmt::format("the run could not continue: {}", error.what()));
  }
}

int WriteEnd(const std::string& folder, const Result<TrainerRunEnd>& end) {
  const Status written = WriteTextFile(folder + "/" + std::string(kRunEndFile),
                                       TrainerRunEndToJson(end));
  if (written.ok()) return 0;
  if (written.code() == Code::kResourceExhausted) return kDiskFullExit;
  // fmt::print throws if the file behind stderr cannot be written.
  std::fputs(
      fmt::format("gauntlet {}: {}\n", kRunVerb, written.message()).c_str(),
      stderr);
  return 1;
}

}  // namespace

int TrainerRunMain(const std::string& folder) {
  // The program inherits only the standard descriptors.
  close_range(STDERR_FILENO + 1, ~0U, 0);
  const Result<TrainerRun> run =
      TrainerRunFromJson(ReadTextFile(folder + "/" + std::string(kRunFile)));
  if (!run.ok()) return WriteEnd(folder, run.status());
  const auto body = [&] { return WriteEnd(folder, RunOrFail(*run)); };
  if (run->isolation == Isolation::kNone) return body();
  const Result<int> code = RunInNamespaces(run->mounts, run->network, body);
  return code.ok() ? *code : WriteEnd(folder, code.status());
}

}  // namespace gauntlet
