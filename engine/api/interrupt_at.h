// Interrupts training on purpose at a chosen point.
#ifndef GAUNTLET_ENGINE_API_INTERRUPT_AT_H_
#define GAUNTLET_ENGINE_API_INTERRUPT_AT_H_

#include <cstdint>
#include <string>

#include "engine/api/callback.h"

namespace gauntlet {

// Kind of point at which InterruptAt ends training. Each comment gives the
// meaning of InterruptAt's argument `number`.
enum class InterruptPoint : uint8_t {
  kEpochBegin,    // epoch, from 0
  kStepEnd,       // step, from 1; before the save, if one is due
  kStepSettled,   // step, from 1; after the save, if one is due
  kEpochEnd,      // epoch, from 0; before the save, if one is due
  kEpochSettled,  // epoch, from 0; after the save, if one is due
};

// Ends Fit with kCancelled when training reaches the point, and leaves the same
// files as a crash at that point. A restarted run that reaches the point again
// is interrupted again.
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
