// Requests that a worker makes to the others after a termination notice.
#ifndef GAUNTLET_ENGINE_TRAIN_NOTICE_NOTICE_REQUESTS_H_
#define GAUNTLET_ENGINE_TRAIN_NOTICE_NOTICE_REQUESTS_H_

#include <cstdint>
#include <span>

#include "engine/train/notice/stop_timing.h"
#include "engine/world/world.h"

namespace gauntlet {

// Bits that workers ask of each other; an exchange or-s them, so that all see
// the same ones at the same boundary.
inline constexpr uint32_t kRequestSave = 1;
inline constexpr uint32_t kRequestStop = 2;
// Set by a Supervisor: a service failed, or a stop was requested. No notice
// sets it.
inline constexpr uint32_t kRequestEnd = 4;

// Work that precedes leaving, and takes time: a save; or, if saves are
// asynchronous, three: the one under way, another one, and the last; or
// nothing.
enum class SavesBeforeExit : uint8_t { kNone, kOne, kThree };

class NoticeRequests {
 public:
  NoticeRequests(World& world, Duration grace,
                 SavesBeforeExit saves_before_exit)
      : world_(&world),
        timing_(grace, saves_before_exit == SavesBeforeExit::kThree ? 3 : 1),
        saves_before_exit_(saves_before_exit) {}

  // At a boundary, with what is ahead (stop_timing.h); `generation` and `step`
  // are for the log.
  uint32_t Ask(uint64_t generation, uint64_t step,
               std::span<const Operation> ahead);

  void OperationTook(Operation operation, Duration duration) {
    timing_.OperationTook(operation, duration);
  }
  void SaveTook(Duration duration) { timing_.SaveTook(duration); }

 private:
  World* world_;
  StopTiming timing_;
  SavesBeforeExit saves_before_exit_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_NOTICE_NOTICE_REQUESTS_H_
