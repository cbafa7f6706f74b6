// Starts a trial in a process of its own.
#ifndef GAUNTLET_HARNESS_TRAINER_RUN_TRIAL_PROCESS_H_
#define GAUNTLET_HARNESS_TRAINER_RUN_TRIAL_PROCESS_H_

#include <filesystem>
#include <functional>
#include <string>

#include "engine/status.h"
#include "harness/trainer/run/trial.h"

namespace gauntlet {

struct TrialHost {
  std::string program;  // gauntlet, which has the command `trial`
  std::function<bool()> interrupted;
};

// Runs the trial in a new process, with its files in an existing folder.
// Several threads may run trials at the same time.
//
// Errors: kCancelled: interrupted; no process of the trial is left. Those of
// Trace (chaos/trace/tracer.h) and of RunInNamespaces.
Result<TrialEnd> RunTrial(const TrialHost& host, const TrainerTrial& trial,
                          const std::filesystem::path& folder);

// Returns OK if trials can run in namespaces here, else the reason. `folder`
// exists and is empty.
Status ProbeNamespaces(const TrialHost& host, NetworkAccess network,
                       const std::filesystem::path& folder);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_RUN_TRIAL_PROCESS_H_
