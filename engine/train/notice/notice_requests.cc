#include "engine/train/notice/notice_requests.h"

namespace gauntlet {

uint32_t NoticeRequests::NextRequests(uint64_t generation, uint64_t step,
                                      std::span<const Operation> ahead) {
  // The grace period counts from the arrival of the notice, not from this
  // check, which a long operation or a load may have delayed.
  const std::optional<Time> came = world_->host.FirstNotice();
  if (!came) return 0;
  const Time now = world_->clock.Now();
  if (!timing_.has_notice()) {
    timing_.RecordNotice(*came);
    world_->events.Emit(
        {.kind = EventKind::kNotice, .generation = generation, .step = step});
  }
  // A worker that saves nothing before its exit can stop immediately.
  if (saves_before_exit_ == SavesBeforeExit::kNone) return kRequestStop;
  switch (timing_.Advise(now, ahead)) {
    case StopAdvice::kContinue:
      return 0;
    case StopAdvice::kSaveAndContinue:
      return kRequestSave;
    case StopAdvice::kStop:
      return kRequestStop;
  }
  return kRequestStop;
}

}  // namespace gauntlet
