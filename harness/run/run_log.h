// What an execution left, in either world: the part of a record that comes from
// the run itself.
#ifndef GAUNTLET_HARNESS_RUN_RUN_LOG_H_
#define GAUNTLET_HARNESS_RUN_RUN_LOG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "engine/train/launcher.h"
#include "engine/world/world.h"
#include "harness/record/record.h"

namespace gauntlet {

// Messages that were sent until an event.
struct TrafficSample {
  int64_t t_ns = 0;
  uint64_t messages = 0;
};

struct RunLog {
  std::vector<LifeEvents> lives;  // by worker, then life
  std::vector<LauncherRun> launchers;
  std::vector<RecordEvent> machine;  // of a simulated run
  RunEnding ending = RunEnding::kExited;
  std::string ending_detail;
  std::string why_not_done;  // as the last launcher of a simulated run had it
  double wall_seconds = 0;
  double virtual_seconds = 0;
  uint64_t oom_kills = 0;
  Leftovers left;
  std::string harness_error;
  bool disk_full = false;  // a real run had no room in its own folder
  std::vector<TrafficSample> traffic;  // of all processes; by time
  uint64_t event_digest = 0;  // simulated runs: of all decisions and effects
};

// Moves the log into the record of its run.
void AdoptLog(RunLog log, Record& record);

// Whether a queue starts the job again after this exit code of the launcher:
// told to go, with or without a last save.
bool IsStartedAgain(int exit_code);

// The launcher's end as a record has it.
LauncherRun ToLauncherRun(const LaunchEnd& end);

// Fills in what a look at the store finds: what may be loaded, what was set
// aside, what was left half done. A directory that is not there is an empty
// store; one that cannot be read is an error. Nothing is changed.
Status LookAtStore(World& world, const std::string& directory, Leftovers& left);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_RUN_LOG_H_
