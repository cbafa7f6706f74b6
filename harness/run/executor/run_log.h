// Log of a run in either world: the part of a record that only the run itself
// can provide.
#ifndef GAUNTLET_HARNESS_RUN_EXECUTOR_RUN_LOG_H_
#define GAUNTLET_HARNESS_RUN_EXECUTOR_RUN_LOG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "engine/train/launcher/launcher.h"
#include "engine/world/world.h"
#include "harness/record/record.h"

namespace gauntlet {

// Number of messages that all processes had sent by the time of an event.
struct TrafficSample {
  int64_t t_ns = 0;
  uint64_t messages = 0;
};

struct RunLog {
  std::vector<IncarnationEvents> incarnations;  // by worker, then incarnation
  std::vector<LauncherRun> launchers;
  std::vector<RecordEvent> machine;  // simulated runs only
  RunEnding ending = RunEnding::kExited;
  std::string ending_detail;
  std::string why_not_done;  // last launcher's reason to end; simulated runs
  double wall_seconds = 0;
  double virtual_seconds = 0;
  uint64_t oom_kills = 0;
  Leftovers left;
  std::string harness_error;
  bool disk_full = false;              // a real run had no room in its folder
  std::vector<TrafficSample> traffic;  // of all processes; by time
  uint64_t event_digest = 0;  // simulated runs: of all decisions and effects
};

// Moves the log into the record.
void AdoptLog(RunLog log, Record& record);

// Returns true iff a job queue starts the job again after this exit code of the
// launcher: kStopped or kLostWorker. A launcher that was preempted and could
// not save exits with kLostWorker too.
bool IsStartedAgain(int exit_code);

// Converts the end of a launcher to a LauncherRun of a record.
LauncherRun ToLauncherRun(const LaunchEnd& end);

// Adds the contents of the checkpoint directory: the checkpoints that are not
// fenced (valid or not), those that were rejected, and unfinished files. A
// missing directory counts as empty; one that cannot be read is an error.
// Changes no file.
Status LookAtStore(World& world, const std::string& directory, Leftovers& left);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_EXECUTOR_RUN_LOG_H_
