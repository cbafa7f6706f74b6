#include "harness/run/executor/event_conversion.h"

#include <string>
#include <utility>
#include <vector>

namespace gauntlet {
namespace {

std::vector<RecordTime> ToRecordTimes(const std::vector<PartTime>& parts) {
  std::vector<RecordTime> times;
  times.reserve(parts.size());
  for (const PartTime& part : parts) {
    times.push_back({.part = std::string(TimePartName(part.part)),
                     .took_ns = part.took.count()});
  }
  return times;
}

}  // namespace

RecordEvent ToRecordEvent(LogEvent&& event, Time time) {
  return {
      .kind = event.kind,
      .t_ns = time.time_since_epoch().count(),
      .generation = event.generation,
      .step = event.step,
      .epoch = event.epoch,
      .position = event.position,
      .phase = event.phase,
      .count = event.count,
      .loss_bits = event.loss_bits,
      .digest = event.digest ? event.digest->ToString() : "",
      .path = std::move(event.path),
      .detail = std::move(event.detail),
      .samples = std::move(event.samples),
      .about = event.about,
      .incarnation = event.incarnation,
      .reason = event.reason,
      .limit_ns = event.limit_ns,
      .parts = ToRecordTimes(event.parts),
      .background = ToRecordTimes(event.background),
  };
}

}  // namespace gauntlet
