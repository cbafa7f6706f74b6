// A failure on purpose, at a place of one's choice.
#ifndef GAUNTLET_ENGINE_API_INTERRUPT_AT_H_
#define GAUNTLET_ENGINE_API_INTERRUPT_AT_H_

#include <cstdint>
#include <string>

#include "engine/api/callback.h"

namespace gauntlet {

enum class InterruptPoint : uint8_t {
  kEpochBegin,    // counted from 0
  kStepEnd,       // counted from 1, before the save that may be due
  kStepSettled,   // behind it
  kEpochEnd,      // counted from 0, before the save that may be due
  kEpochSettled,  // behind it
};

// Ends Fit with kCancelled when training gets there: what a crash would leave
// is there to go on from. A restart that passes the place again is interrupted
// again.
class InterruptAt final : public Callback {
 public:
  InterruptAt(InterruptPoint point, uint64_t number)
      : point_(point), number_(number) {}

  std::string name() const override { return "interrupt_at"; }
  Status OnEpochBegin(const Boundary& at) override;
  Status OnStepEnd(const Boundary& at, float loss) override;
  Status OnStepSettled(const Progress& at) override;
  Status OnEpochEnd(const Boundary& at, const EpochMetrics& metrics) override;
  Status OnEpochSettled(const Progress& at) override;

 private:
  Status Interrupt(InterruptPoint here, uint64_t number) const;

  InterruptPoint point_;
  uint64_t number_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_API_INTERRUPT_AT_H_
