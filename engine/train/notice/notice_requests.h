// Requests that a worker sends to the others after a preemption notice.
#ifndef GAUNTLET_ENGINE_TRAIN_NOTICE_NOTICE_REQUESTS_H_
#define GAUNTLET_ENGINE_TRAIN_NOTICE_NOTICE_REQUESTS_H_

#include <cstdint>
#include <span>

#include "engine/train/notice/stop_timing.h"
#include "engine/world/world.h"

namespace gauntlet {

// Requests of a worker to all workers, as bits. An exchange combines them with
// OR, so that all workers receive the same bits at the same boundary.
inline constexpr uint32_t kRequestSave = 1;
inline constexpr uint32_t kRequestStop = 2;
// Request of a Supervisor (engine/api) after a service failed or a stop was
// requested. A preemption notice never causes it.
inline constexpr uint32_t kRequestEnd = 4;

// Number of saves before the exit. kOne: the last save. kThree, with
// asynchronous saves: the save in flight, a periodic save that becomes due, and
// the last save.
enum class SavesBeforeExit : uint8_t { kNone, kOne, kThree };

class NoticeRequests {
 public:
  NoticeRequests(World& world, Duration grace,
                 SavesBeforeExit saves_before_exit)
      : world_(&world),
        timing_(grace, saves_before_exit == SavesBeforeExit::kThree ? 3 : 1),
        saves_before_exit_(saves_before_exit) {}

  // Returns the requests to send in the next exchange. `ahead` is as in
  // StopTiming::Advise. `generation` and `step` are for the event log.
  uint32_t NextRequests(uint64_t generation, uint64_t step,
                        std::span<const Operation> ahead);

  void RecordOperation(Operation operation, Duration duration) {
    timing_.RecordOperation(operation, duration);
  }
  void RecordSave(Duration duration) { timing_.RecordSave(duration); }
  void RecordSaveSoFar(Duration duration) { timing_.RecordSaveSoFar(duration); }

 private:
  World* world_;
  StopTiming timing_;
  SavesBeforeExit saves_before_exit_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_NOTICE_NOTICE_REQUESTS_H_
