// Limits of a launcher, in addition to those that its options set.
#ifndef GAUNTLET_ENGINE_RESTART_LIMITS_H_
#define GAUNTLET_ENGINE_RESTART_LIMITS_H_

namespace gauntlet {

// A launcher gives up after this number of consecutive restarts without a new
// step, even if its options permit more restarts. This is the default of
// LauncherOptions::max_restarts_without_progress. No key of a scenario changes
// that option.
inline constexpr int kMaxRestartsWithoutProgress = 10;

// A launcher that may run with fewer workers leaves a worker out after this
// number of consecutive losses that the worker caused.
inline constexpr int kFailuresToExclude = 3;

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_RESTART_LIMITS_H_
