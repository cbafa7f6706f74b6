#include "harness/oracle/generation.h"

#include <algorithm>

namespace gauntlet {

int WorkersIn(const RunSetup& setup, int life) {
  const std::vector<int>& by_life = setup.workers_by_life;
  if (by_life.empty()) return setup.workers;
  const auto index = static_cast<size_t>(std::max(life, 1)) - 1;
  return by_life[std::min(index, by_life.size() - 1)];
}

uint64_t GenerationOf(const LifeEvents& life) {
  uint64_t generation = 0;
  for (const RecordEvent& event : life.events) {
    if (event.generation != 0) generation = event.generation;
  }
  return generation;
}

std::optional<Moment> TrainedTo(const LifeEvents& life) {
  std::optional<Moment> trained;
  for (const RecordEvent& event : life.events) {
    if (IsOfTraining(event.kind) || event.kind == RecordKind::kCarriedOn) {
      trained = Moment{.step = event.step, .phase = event.phase};
    }
  }
  return trained;
}

void Generation::Take(const RecordEvent& event, const MomentOfLife& now) {
  if (IsOfStart(event.kind)) started_ns = std::min(started_ns, event.t_ns);
  switch (event.kind) {
    case RecordKind::kResumed:
      resumed = now.Of(event);
      break;
    case RecordKind::kCarriedOn:
      carried_on = now.Of(event);
      last_step = std::max(last_step, event.step);
      break;
    case RecordKind::kInitialized:
      cold_start = true;
      break;
    case RecordKind::kStep:
      last_step = std::max(last_step, event.step);
      break;
    case RecordKind::kStopAgreed:
      stop = now.Of(event);
      break;
    case RecordKind::kSaveBegin:
      begun_saves.insert(now.Of(event));
      break;
    case RecordKind::kSaveAcknowledged:
      saves.push_back({now.Of(event), event.digest, event.count == 0});
      begun_saves.insert(saves.back().moment);
      break;
    case RecordKind::kSaveFailed:
      failed_saves.push_back(event.step);
      break;
    case RecordKind::kFinished:
      ++finished_workers;
      break;
    default:
      break;
  }
}

bool Generation::StoppedOrderly() const {
  return stop &&
         std::any_of(saves.begin(), saves.end(), [&](const Acknowledged& save) {
           return save.moment == *stop;
         });
}

}  // namespace gauntlet
