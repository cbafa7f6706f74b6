#include "harness/run/failure/history/last_holder.h"

#include <algorithm>
#include <cstdint>
#include <set>

#include "harness/oracle/history/history.h"
#include "harness/oracle/history/training_position.h"

namespace gauntlet {
namespace {

// Returns the last generation that started before this one; null if there is
// none.
const Generation* StartedBefore(const Outline& outline,
                                const Generation& generation) {
  const Generation* before = nullptr;
  for (const Generation& one : outline.generations) {
    if (&one == &generation) break;
    if (one.has_started()) before = &one;
  }
  return before;
}

// Returns the time at which the first worker of the generation began to train;
// INT64_MAX if none did.
int64_t StartOf(const Outline& outline, const Generation& generation) {
  int64_t start_ns = INT64_MAX;
  for (const IncarnationEvents& incarnation : outline.record.incarnations) {
    if (!generation.workers.contains({.worker = incarnation.worker,
                                      .incarnation = incarnation.number})) {
      continue;
    }
    for (const RecordEvent& event : incarnation.events) {
      if (IsOfStart(event.kind) && event.generation == generation.number) {
        start_ns = std::min(start_ns, event.t_ns);
      }
    }
  }
  return start_ns;
}

}  // namespace

bool HasNoSurvivor(const Outline& outline, const Generation& generation) {
  if (!outline.record.setup.rejoins || generation.resumed_from_memory)
    return false;
  const Generation* const before = StartedBefore(outline, generation);
  return before != nullptr &&
         std::ranges::none_of(before->workers, [&](const Emitter& worker) {
           return generation.workers.contains(worker);
         });
}

std::optional<EndOfLastHolder> FindEndOfLastHolder(
    const Outline& outline, const Generation& generation) {
  if (!HasNoSurvivor(outline, generation)) return std::nullopt;
  const Generation& before = *StartedBefore(outline, generation);
  const int64_t start_ns = StartOf(outline, generation);
  std::set<const RecordFault*> ending;
  std::optional<EndOfLastHolder> last;
  for (const FaultOccurrence& occurrence : outline.occurrences) {
    const Emitter worker = {Emitter::Kind::kWorker,
                            occurrence.incarnation->worker,
                            occurrence.incarnation->number};
    // Skips ends after the start of the generation: a worker that was cut off
    // may end so late.
    if (occurrence.event().t_ns > start_ns ||
        !occurrence.traits.ends_incarnation ||
        !before.workers.contains(worker)) {
      continue;
    }
    ending.insert(occurrence.fault);
    last = {.fault = occurrence.fault, .worker = worker.worker};
  }
  return ending.size() > 1 ? last : std::nullopt;
}

}  // namespace gauntlet
