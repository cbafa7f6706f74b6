#include "harness/run/event_conversion.h"

namespace gauntlet {

// Both vocabularies name the same kinds and phases in the same order; a test
// holds every name of one against the other.
RecordEvent ToRecordEvent(const LogEvent& event, Time time) {
  return {
      .kind = static_cast<RecordKind>(event.kind),
      .t_ns = time.time_since_epoch().count(),
      .generation = event.generation,
      .step = event.step,
      .epoch = event.epoch,
      .position = event.position,
      .phase = static_cast<RecordPhase>(event.phase),
      .count = event.count,
      .loss_bits = event.loss_bits,
      .digest = event.digest ? event.digest->ToString() : "",
      .path = event.path,
      .detail = event.detail,
      .samples = event.samples,
  };
}

}  // namespace gauntlet
