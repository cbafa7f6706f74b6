// Limits of a launcher that hold beside those of a job's own options.
#ifndef GAUNTLET_ENGINE_RESTART_LIMITS_H_
#define GAUNTLET_ENGINE_RESTART_LIMITS_H_

namespace gauntlet {

// A launcher gives up after this number of consecutive restarts without a new
// step, however many restarts its job permits. Default of
// LauncherOptions::max_restarts_without_progress, which no key of a scenario
// changes.
inline constexpr int kMaxRestartsWithoutProgress = 10;

// A launcher that may run with fewer workers leaves a worker out after this
// number of consecutive losses that the worker caused.
inline constexpr int kFailuresToLeaveOut = 3;

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_RESTART_LIMITS_H_
