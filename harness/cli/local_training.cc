#include "harness/cli/local_training.h"

#include <cerrno>
#include <cstring>
#include <span>

#include "engine/real/local_worker_processes.h"
#include "engine/real/real_world.h"
#include "harness/cli/exit_code.h"
#include "harness/cli/train_command.h"
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <stdlib.h>
#include <unistd.h>

namespace gauntlet {
namespace {

// Whatever was built or installed under this name: the same program.
constexpr const char* kThisProgram = "/proc/self/exe";

// A file for the workers of this process to read; gone with this.
class HandoutFile {
 public:
  static Result<std::unique_ptr<HandoutFile>> Write(Storage& storage,
                                                    std::string_view text) {
    std::string directory = "/tmp/gauntlet-XXXXXX";
    if (mkdtemp(directory.data()) == nullptr) {
      return IoError(
          fmt::format("{}: mkdtemp: {}", directory, std::strerror(errno)));
    }
    std::unique_ptr<HandoutFile> handout(new HandoutFile(directory));
    ASSIGN_OR_RETURN(const auto file,
                     storage.Open(handout->path(), OpenMode::kCreateExclusive));
    RETURN_IF_ERROR(file->WriteAt(0, std::as_bytes(std::span(text))));
    return handout;
  }
  HandoutFile(const HandoutFile&) = delete;
  HandoutFile& operator=(const HandoutFile&) = delete;
  ~HandoutFile() {
    unlink(path().c_str());
    rmdir(directory_.c_str());
  }

  std::string path() const { return directory_ + "/options.json"; }

 private:
  explicit HandoutFile(std::string directory)
      : directory_(std::move(directory)) {}

  const std::string directory_;
};

// One level: a typo is not to make a tree.
Status EnsureDirectory(Storage& storage, const std::string& directory) {
  if (directory.empty()) return OkStatus();
  const Status made = storage.MakeDirectory(directory);
  return made.code() == Code::kAlreadyExists ? OkStatus() : made;
}

// What would otherwise be found out by each worker at once.
Status CheckFiles(Storage& storage, const TrainCommand& command) {
  const DataSpec& data = command.options.job.data;
  if (data.kind == DataKind::kIdx) {
    if (const auto found = storage.List(data.path); !found.ok()) {
      return Annotate(found.status(), "--data");
    }
  }
  RETURN_IF_ERROR(EnsureDirectory(storage, command.events_directory));
  return EnsureDirectory(storage, command.logs_directory);
}

Result<int> Train(const TrainCommand& command, Console& console) {
  RealWorld real;
  World world = real.world();
  RETURN_IF_ERROR(CheckFiles(real.storage, command));
  ASSIGN_OR_RETURN(
      const auto handout,
      HandoutFile::Write(real.storage, TrainOptionsToJson(command.options)));
  LocalWorkerOptions workers{
      .program = kThisProgram,
      .arguments = {"worker", "--options", handout->path()},
      .events_directory = command.events_directory,
      .logs_directory = command.logs_directory,
      .environment = {}};
  if (!command.plan_file.empty()) {
    workers.arguments.insert(workers.arguments.end(),
                             {"--plan", command.plan_file});
  }
  LocalWorkerProcesses processes(std::move(workers), real.storage);
  return RunTrain(command, world, processes, console);
}

}  // namespace

int TrainOnThisMachine(const TrainCommand& command, Console& console) {
  InstallSignalHandlers();
  const Result<int> exit_code = Train(command, console);
  if (exit_code.ok()) return *exit_code;
  fmt::print(console.err, "gauntlet train: {}\n", exit_code.status().message());
  return static_cast<int>(ExitCode::kUsage);
}

int LaunchOnThisMachine(const LaunchCommand& command, Console& console) {
  constexpr uint64_t kMaxOptionsBytes = uint64_t{1} << 20;
  PosixStorage storage;
  const Result<std::string> text =
      ReadFile(storage, command.options_file, kMaxOptionsBytes);
  Result<TrainOptions> options = text.ok()
                                     ? TrainOptionsFromJson(*text)
                                     : Result<TrainOptions>(text.status());
  if (!options.ok()) {
    fmt::print(console.err, "gauntlet launch: {}: {}\n", command.options_file,
               options.status().message());
    return static_cast<int>(ExitCode::kUsage);
  }
  TrainCommand train = command.train;
  train.options = *std::move(options);
  train.launcher.checkpoint_directory = train.options.checkpoint.directory;
  train.launcher.backoff = std::chrono::milliseconds(command.backoff_ms);
  return TrainOnThisMachine(train, console);
}

}  // namespace gauntlet
