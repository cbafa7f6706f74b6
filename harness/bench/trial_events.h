// Figures of a trial from the events of its processes.
#ifndef GAUNTLET_HARNESS_BENCH_TRIAL_EVENTS_H_
#define GAUNTLET_HARNESS_BENCH_TRIAL_EVENTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/status.h"
#include "harness/record/event.h"

namespace gauntlet {

// Measured part of a run: steps `begin` + 1 to `end`, and the saves after steps
// `begin` to `end` - 1.
struct StepWindow {
  uint64_t begin = 0;
  uint64_t end = 0;
};

struct WindowFigures {
  double seconds = 0;
  double fastest_step = 0;              // time of the fastest step, in seconds
  double stall_seconds = 0;             // sum over all saves
  std::vector<double> durable_seconds;  // time of each save until durable
  double bytes = 0;                     // size of a save, of all workers
};

// kNotFound: the chief's first process did not finish the window.
Result<WindowFigures> ReadWindow(
    const std::vector<IncarnationEvents>& incarnations,
    const StepWindow& window);

// Parts of a recovery, in seconds. Each part begins where the one before ends.
struct RecoveryFigures {
  double detect = 0;
  double respawn = 0;
  double join = 0;
  double restore = 0;
  double recompute = 0;
  uint64_t recomputed = 0;  // recomputed steps, plus the first new one

  double total() const { return detect + respawn + join + restore + recompute; }
};

struct Kill {
  int worker = 0;
  int64_t t_ns = 0;  // by the clock of the events
};

// kNotFound: no new step followed the kill.
Result<RecoveryFigures> ReadRecovery(
    const std::vector<IncarnationEvents>& incarnations, const Kill& kill);

// Return the time at which training first began, and the time at which the
// chief last finished the step.
std::optional<int64_t> TrainingBegan(
    const std::vector<IncarnationEvents>& incarnations);
std::optional<int64_t> StepFinished(
    const std::vector<IncarnationEvents>& incarnations, uint64_t step);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_BENCH_TRIAL_EVENTS_H_
