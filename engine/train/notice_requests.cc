#include "engine/train/notice_requests.h"

namespace gauntlet {

uint32_t NoticeRequests::Ask(uint64_t generation, uint64_t step) {
  if (world_->host.TerminationNotices() == 0) return 0;
  const Time now = world_->clock.Now();
  if (!timing_.noticed()) {
    timing_.Noticed(now);
    world_->events.Emit(
        {.kind = EventKind::kNotice, .generation = generation, .step = step});
  }
  // Where nothing is to be saved there is nothing to wait for.
  if (leave_with_ == LeaveWith::kNothing) return kRequestStop;
  switch (timing_.Ask(now)) {
    case StopAdvice::kGoOn:
      return 0;
    case StopAdvice::kSaveAndGoOn:
      return kRequestSave;
    case StopAdvice::kStop:
      return kRequestStop;
  }
  return kRequestStop;
}

}  // namespace gauntlet
