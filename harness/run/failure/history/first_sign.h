// The first sign of an interruption: an end of a process, a lost worker, a
// refusal to train, or an agreement to stop.
#ifndef GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_FIRST_SIGN_H_
#define GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_FIRST_SIGN_H_

#include <cstdint>
#include <optional>
#include <string>

#include "harness/record/record.h"

namespace gauntlet {

struct FirstSign {
  const RecordEvent* event = nullptr;  // of the record; null: there is no sign
  // Worker that emitted the event; kLauncherWorker: a launcher or the machine.
  int emitter = kLauncherWorker;
  // Worker that ended or was lost; nullopt: none, or it is unknown.
  std::optional<int> worker = std::nullopt;
  // "worker 1 exited with code 70", "worker 0 lost rank 1 (deadline:
  // cluster.step_timeout is 7s)", "the workers agreed to stop at step 9", or
  // "the chief refused to train (exit code 8): …"; "" if there is no sign.
  std::string text = {};
};

// Returns the first sign after `from_ns`, until `until_ns`. An end that the
// launcher caused, because another worker had ended, is returned only if there
// is no other sign. If workers waited for each other in a chain, returns the
// loss of the worker that the others waited for, which may come after
// `until_ns`.
FirstSign FindFirstSign(const Record& record, int64_t from_ns,
                        int64_t until_ns);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FAILURE_HISTORY_FIRST_SIGN_H_
