#include "engine/api/interrupt_at.h"

#include <string_view>

#include <fmt/format.h>

namespace gauntlet {
namespace {

std::string_view NameOf(InterruptPoint point) {
  switch (point) {
    case InterruptPoint::kEpochBegin:
      return "the begin of epoch";
    case InterruptPoint::kStepEnd:
      return "the end of step";
    case InterruptPoint::kStepSettled:
      return "the save after step";
    case InterruptPoint::kEpochEnd:
      return "the end of epoch";
    case InterruptPoint::kEpochSettled:
      return "the save after epoch";
  }
  return "unknown";
}

}  // namespace

Status InterruptAt::Interrupt(InterruptPoint here, uint64_t number) const {
  if (here != point_ || number != number_) return OkStatus();
  return Cancelled(
      fmt::format("interrupted on purpose at {} {}", NameOf(here), number));
}

Status InterruptAt::OnEpochBegin(const Boundary& at) {
  return Interrupt(InterruptPoint::kEpochBegin, at.epoch);
}

Status InterruptAt::OnStepEnd(const Boundary& at, float /*loss*/) {
  return Interrupt(InterruptPoint::kStepEnd, at.step);
}

Status InterruptAt::OnStepSettled(const Progress& at) {
  return Interrupt(InterruptPoint::kStepSettled, at.step);
}

Status InterruptAt::OnEpochEnd(const Boundary& at, const EpochMetrics&) {
  return Interrupt(InterruptPoint::kEpochEnd, at.epoch - 1);
}

Status InterruptAt::OnEpochSettled(const Progress& at) {
  return Interrupt(InterruptPoint::kEpochSettled, at.epoch - 1);
}

}  // namespace gauntlet
