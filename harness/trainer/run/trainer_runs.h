// Runs of the program of a crash test, each with directories of its own under
// the paths that all of them see.
#ifndef GAUNTLET_HARNESS_TRAINER_RUN_TRAINER_RUNS_H_
#define GAUNTLET_HARNESS_TRAINER_RUN_TRAINER_RUNS_H_

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "chaos/trace/injection.h"
#include "engine/status.h"
#include "harness/trainer/run/crash_test_plan.h"
#include "harness/trainer/run/trial.h"
#include "harness/trainer/run/trial_process.h"

namespace gauntlet {

// Makes the directory and those above it.
Status MakeDirectories(const std::filesystem::path& path);

// Directories of one run.
struct RunFolder {
  std::filesystem::path folder;
  // Both of these, as the program sees them: it may rename from one to the
  // other.
  std::filesystem::path place() const { return folder / "place"; }
  std::filesystem::path out() const { return place() / "out"; }
  std::filesystem::path temporary() const { return place() / "tmp"; }
  std::filesystem::path log() const { return folder / "log"; }
  // Standard output and error of the program.
  std::filesystem::path output() const { return folder / output_name; }
  std::string output_name = "output.txt";
};

class ForkServer;

struct RunChoice {
  std::vector<std::string> arguments;  // with places
  std::vector<Injection> injections;
  bool records = false;  // the operations, in the folder's log
  Duration time_limit{};
  // Runs the program, unless it cannot start it; nullptr: a fresh process does.
  const ForkServer* fork_server = nullptr;
};

class TrainerRuns {
 public:
  // Index of a watched directory in operation logs and reads.
  static constexpr uint32_t kOut = 0;
  static constexpr uint32_t kTemporary = 1;

  // Makes `folder`/place and `folder`/runs. `folder`: absolute, exists.
  static Result<TrainerRuns> Make(const CrashTestPlan& plan,
                                  const TrialHost& host,
                                  const std::filesystem::path& folder);

  // kNone: one run at a time.
  Isolation isolation() const { return isolation_; }
  // The reason for kNone.
  const std::string& why_not_isolated() const { return why_not_isolated_; }
  // Path of {out} in every run.
  std::filesystem::path out_place() const { return place_ / "out"; }
  std::filesystem::path temporary_place() const { return place_ / "tmp"; }

  // Asks if the test was interrupted; may be empty.
  const std::function<bool()>& interrupted() const { return host_.interrupted; }
  // Environment of every run, "NAME=value".
  std::vector<std::string> Environment() const;

  // A folder with empty directories.
  Result<RunFolder> NewFolder(const std::string& name) const;
  static void Remove(const RunFolder& folder);

  // Errors: those of RunTrial.
  Result<TrialEnd> Run(const RunFolder& folder, const RunChoice& choice) const;

 private:
  TrainerRuns(const CrashTestPlan& plan, TrialHost host,
              std::filesystem::path folder);
  Result<TrialEnd> RunInNamespaces(const RunFolder& folder, TrainerTrial trial,
                                   const ForkServer* fork_server) const;
  Result<TrialEnd> RunInPlace(const RunFolder& folder,
                              TrainerTrial trial) const;

  TrialHost host_;
  NetworkAccess network_;
  LogLimits log_limits_;
  std::filesystem::path runs_;
  std::filesystem::path place_;
  Isolation isolation_ = Isolation::kNamespaces;
  std::string why_not_isolated_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_RUN_TRAINER_RUNS_H_
