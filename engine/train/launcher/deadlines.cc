#include "engine/train/launcher/deadlines.h"

#include <algorithm>

namespace gauntlet {

Deadlines DeadlinesOf(const ClusterOptions& cluster,
                      const LauncherOptions& launcher) {
  // The lost worker must be silent for lost_after. The workers that wait for it
  // detect the silence within lost_after more.
  const Duration silence = 2 * cluster.lost_after;
  // All workers wait for the chief's decision, which may take as long as a
  // save.
  Duration joining =
      cluster.rendezvous_timeout + cluster.save_timeout + silence;
  // A worker that is in a save joins only after the save.
  if (launcher.restart == RestartPolicy::kRejoin) {
    joining += cluster.save_timeout;
  }
  return {
      .silence = cluster.lost_after,
      .shortest_hang = std::min({cluster.step_timeout, cluster.save_timeout,
                                 cluster.rendezvous_timeout}),
      .detection_in_training = cluster.step_timeout + silence,
      .detection_in_a_save =
          std::max(cluster.save_timeout, cluster.step_timeout) + silence,
      .detection_in_joining = joining,
      .detection_before_joining = launcher.start_timeout + silence,
      .first_restart_pause = std::min(launcher.backoff, launcher.max_backoff),
      .longest_restart_pause = launcher.max_backoff,
      .orphans_end = kOrphanExitTimeout};
}

}  // namespace gauntlet
