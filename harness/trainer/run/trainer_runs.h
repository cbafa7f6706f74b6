// Runs the program of a crash test. Each run has its own directories, at paths
// that are the same in all runs.
#ifndef GAUNTLET_HARNESS_TRAINER_RUN_TRAINER_RUNS_H_
#define GAUNTLET_HARNESS_TRAINER_RUN_TRAINER_RUNS_H_

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "chaos/trace/injection.h"
#include "engine/status.h"
#include "harness/trainer/run/crash_test_plan.h"
#include "harness/trainer/run/run_process.h"
#include "harness/trainer/run/trainer_run.h"

namespace gauntlet {

// Creates the directory and its parents.
Status MakeDirectories(const std::filesystem::path& path);

// Directories of one run.
struct RunFolder {
  std::filesystem::path folder;
  // Parent of out() and temporary(). The program sees this folder as one file
  // system, so it can rename files from out() to temporary() and back.
  std::filesystem::path place() const { return folder / "place"; }
  std::filesystem::path out() const { return place() / "out"; }
  std::filesystem::path temporary() const { return place() / "tmp"; }
  std::filesystem::path log() const { return folder / "log"; }
  // File with the standard output and error of the program.
  std::filesystem::path output() const { return folder / output_name; }
  std::string output_name = "output.txt";
};

class ForkServer;

struct RunChoice {
  std::vector<std::string> arguments;  // with placeholders
  std::vector<Injection> injections;
  bool records = false;  // records operations in the folder's log
  Duration time_limit{};
  // Server that runs the program. If it is null, or if it cannot start the
  // program, the program runs in a fresh process.
  const ForkServer* fork_server = nullptr;
};

class TrainerRuns {
 public:
  // Indexes of the watched directories in operation logs and reads.
  static constexpr uint32_t kOut = 0;
  static constexpr uint32_t kTemporary = 1;

  // Creates `folder`/place and `folder`/runs. REQUIRES: `folder` is absolute
  // and exists.
  static Result<TrainerRuns> Make(const CrashTestPlan& plan,
                                  const RunHost& host,
                                  const std::filesystem::path& folder);

  // Returns the isolation of every run. With kNone, only one run may be in
  // progress at a time.
  Isolation isolation() const { return isolation_; }
  // Reason why isolation() is kNone.
  const std::string& why_not_isolated() const { return why_not_isolated_; }
  // Paths of {out} and TMPDIR in every run.
  std::filesystem::path out_place() const { return place_ / "out"; }
  std::filesystem::path temporary_place() const { return place_ / "tmp"; }

  // Function that returns true iff the test was interrupted. May be empty.
  const std::function<bool()>& interrupted() const { return host_.interrupted; }
  // Variables that every run gets from this class, "NAME=value".
  std::vector<std::string> OwnVariables() const;
  // Environment of every run, "NAME=value": that of this process, with
  // OwnVariables.
  std::vector<std::string> Environment() const;

  // Creates a folder with empty directories.
  Result<RunFolder> NewFolder(const std::string& name) const;
  static void Remove(const RunFolder& folder);

  // Errors: those of RunInOwnProcess.
  Result<TrainerRunEnd> Run(const RunFolder& folder,
                            const RunChoice& choice) const;

 private:
  TrainerRuns(const CrashTestPlan& plan, RunHost host,
              std::filesystem::path folder);
  Result<TrainerRunEnd> RunInNamespaces(const RunFolder& folder, TrainerRun run,
                                        const ForkServer* fork_server) const;
  Result<TrainerRunEnd> RunInPlace(const RunFolder& folder,
                                   TrainerRun run) const;

  RunHost host_;
  NetworkAccess network_;
  LogLimits log_limits_;
  std::filesystem::path runs_;
  std::filesystem::path place_;
  Isolation isolation_ = Isolation::kNamespaces;
  std::string why_not_isolated_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_RUN_TRAINER_RUNS_H_
