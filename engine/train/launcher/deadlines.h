// Time limits within which a job reacts to a worker that is lost or hangs.
//
// They are computed from the engine's options alone. The judge uses the same
// values.
#ifndef GAUNTLET_ENGINE_TRAIN_LAUNCHER_DEADLINES_H_
#define GAUNTLET_ENGINE_TRAIN_LAUNCHER_DEADLINES_H_

#include "engine/train/launcher/launcher.h"
#include "engine/train/options.h"

namespace gauntlet {

struct Deadlines {
  // A worker whose connections stay open is declared lost only after it has
  // sent nothing for this long.
  Duration silence{0};
  // A worker that sends only heartbeats is never declared hung sooner than
  // this, in any part of the run.
  Duration shortest_hang{0};

  // A worker reports the loss of another one within one of these times,
  // depending on the part of the run in which the loss occurs.
  Duration detection_in_training{0};
  Duration detection_in_a_save{0};
  // For a loss while a worker joins: from the start of its process, or from the
  // loss after which it rejoins, until its first step.
  Duration detection_in_joining{0};
  // For the loss of a worker that has not yet connected to the others: only the
  // launcher detects this loss.
  Duration detection_before_joining{0};

  // Pause before the first restart, and longest pause. If workers rejoin, the
  // first pause also depends on earlier losses.
  Duration first_restart_pause{0};
  Duration longest_restart_pause{0};

  // Workers whose launcher was killed exit within this time.
  Duration orphans_end{0};

  bool operator==(const Deadlines&) const = default;
};

Deadlines DeadlinesOf(const ClusterOptions& cluster,
                      const LauncherOptions& launcher);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_LAUNCHER_DEADLINES_H_
