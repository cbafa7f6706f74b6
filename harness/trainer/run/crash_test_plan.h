// Options of a crash test.
#ifndef GAUNTLET_HARNESS_TRAINER_RUN_CRASH_TEST_PLAN_H_
#define GAUNTLET_HARNESS_TRAINER_RUN_CRASH_TEST_PLAN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "chaos/sim/disk/durability_profile.h"
#include "chaos/trace/injection.h"
#include "chaos/trace/log/operation_log.h"
#include "engine/world/clock.h"
#include "harness/trainer/run/crash_trial.h"
#include "harness/trainer/run/trainer_run.h"
#include "harness/trainer/text/program_output.h"

namespace gauntlet {

// Crashes at one operation of the program.
struct CrashPlace {
  std::string name;  // in messages: "faults[0]"
  CrashFault fault = CrashFault::kKill;
  OperationPattern at;
  std::optional<DurabilityProfile> profile;  // for power losses; nullopt: all
};

struct CrashTestPlan {
  std::vector<std::string> command;         // with "{out}"
  std::vector<std::string> resume_command;  // empty: same as `command`
  // Patterns of fnmatch(3) for files below {out}; * also matches "/".
  std::vector<std::string> results;      // empty: all files
  std::vector<std::string> checkpoints;  // empty: files that a resume reads
  // Shell command to run after a run; its output is the result, instead of
  // files.
  std::string result_command;
  std::optional<StepPattern> resumed_step;
  std::vector<CrashFault> faults = {CrashFault::kKill, CrashFault::kTornWrite,
                                    CrashFault::kPowerLoss,
                                    CrashFault::kRankDeath};
  bool names_faults = false;  // true: `faults` is not the default
  std::vector<DurabilityProfile> profiles = {DurabilityProfile::kExt4,
                                             DurabilityProfile::kWeak};
  std::optional<Duration> time = std::chrono::minutes(10);
  std::optional<uint64_t> most_trials;
  std::vector<std::string> options;  // as given, for scripts
  std::string version;               // of gauntlet
  // Crashes to try: `only` is the id of one, `places` are operations. If both
  // are empty, all crashes are tried.
  std::string only;
  std::vector<CrashPlace> places;
  int jobs = 1;
  // Time limit of one run; zero: ten times the recorded run's time, at least 20
  // s.
  Duration trial_limit{};
  Duration grace = std::chrono::seconds(5);  // after SIGTERM
  Duration pause = std::chrono::seconds(1);
  NetworkAccess network = NetworkAccess::kPrivate;
  // If true, a fork server forks the resumed runs of a Python program.
  bool uses_fork_server = true;
  uint64_t seed = 1;
  LogLimits log_limits;
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_RUN_CRASH_TEST_PLAN_H_
