// A Python process that imports a program's libraries once and forks a child
// for each run (fork_server.py). Such imports often take ten times as long as
// the steps of a run.
#ifndef GAUNTLET_HARNESS_TRAINER_PYTHON_FORK_SERVER_H_
#define GAUNTLET_HARNESS_TRAINER_PYTHON_FORK_SERVER_H_

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/real/process/child_process.h"
#include "engine/status.h"
#include "harness/trainer/python/python_command.h"

namespace gauntlet {

// Socket in the server's folder; served_program.h connects to it.
inline constexpr std::string_view kForkServerSocket = "socket";

// Writes fork_server.py into the folder. Returns a command line that runs the
// program in a fresh process, and then writes to the file `modules` the names
// of the library modules that the program has loaded.
Result<std::vector<std::string>> ModuleListCommand(
    const PythonCommand& command, const std::filesystem::path& folder,
    const std::filesystem::path& modules);

struct ForkServerOptions {
  PythonCommand command;                 // its interpreter and flags are used
  std::vector<std::string> environment;  // of all runs, "NAME=value"
  std::string modules;                   // names, one per line
  std::filesystem::path folder;  // existing folder for the server's own files
  std::function<bool()> interrupted;
};

class ForkServer {
 public:
  // Starts the server and waits until it has imported the modules. Call this
  // function from a thread that lives as long as the server (see StartChild).
  //
  // Errors: kFailedPrecondition: the server cannot be used; the message has the
  // reason, such as a module that starts a thread. kCancelled: interrupted.
  // Others: those of the folder and of fork(2).
  static Result<std::unique_ptr<ForkServer>> Start(
      const ForkServerOptions& options);
  ~ForkServer();
  ForkServer(const ForkServer&) = delete;
  ForkServer& operator=(const ForkServer&) = delete;

  // Folder for TrainerRun::fork_server.
  const std::filesystem::path& folder() const { return folder_; }
  // Number of imported modules.
  size_t module_count() const { return module_count_; }
  // Some of the modules that could not be imported, with the reasons.
  const std::vector<std::string>& skipped() const { return skipped_; }

 private:
  ForkServer(std::filesystem::path folder, ChildProcess process);
  Result<std::string> ReadReport(const std::function<bool()>& interrupted);
  Status TakeReport(const std::string& report);

  std::filesystem::path folder_;
  ChildProcess process_;
  size_t module_count_ = 0;
  std::vector<std::string> skipped_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_PYTHON_FORK_SERVER_H_
