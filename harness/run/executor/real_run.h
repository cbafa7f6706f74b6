// Runs a plan in real processes of this machine.
#ifndef GAUNTLET_HARNESS_RUN_EXECUTOR_REAL_RUN_H_
#define GAUNTLET_HARNESS_RUN_EXECUTOR_REAL_RUN_H_

#include <string>

#include "harness/run/executor/run_log.h"
#include "harness/run/executor/run_plan.h"

namespace gauntlet {

// Interface between the harness and the processes that it watches: a program,
// its arguments, and the files in this directory.
//
//   options-<n>.json   options of the n-th launcher and its workers
//   plan.json          fault plan
//   events/            events of launchers and workers, one file per process
//   logs/              output of each incarnation of a worker
//   launch-<n>.json    output of the n-th launcher
//   ckpt/              checkpoint directory
//
// Each process of the run has GAUNTLET_RUN_DIRECTORY, the run's directory, in
// its environment.
struct RealRunPlace {
  std::string program;    // `gauntlet`, or a program that behaves like it
  std::string directory;  // exists, empty; an absolute path
};

// Starts `program launch …`, and starts it again as LaunchSequence decides,
// until no launch is due, a limit of the plan is reached, or the disk is full.
// Then kills the launcher and the workers that are left. Other processes are
// neither listed nor killed, even if their arguments name the directory. The
// calling thread must live as long as the processes.
RunLog RunInProcesses(const RealRunPlace& place, const RunPlan& plan);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_EXECUTOR_REAL_RUN_H_
