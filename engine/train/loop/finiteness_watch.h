// Reports the first loss or state that is not finite, and decides whether
// training stops.
#ifndef GAUNTLET_ENGINE_TRAIN_LOOP_FINITENESS_WATCH_H_
#define GAUNTLET_ENGINE_TRAIN_LOOP_FINITENESS_WATCH_H_

#include <cstdint>
#include <string>

#include "engine/status.h"
#include "engine/train/loop/loop_reports.h"
#include "engine/train/loop/loop_saves.h"
#include "engine/train/options.h"
#include "engine/train/state/resident_state.h"
#include "engine/world/world.h"

namespace gauntlet {

// Emits at most one event, and one line for people about it. All workers make
// the same decision, because they have the same state and receive the same
// outcome of a save.
class FinitenessWatch {
 public:
  struct Parts {
    World& world;
    const TrainOptions& options;
    ResidentState& resident;
    LoopReports& reports;
    LoopSaves& saves;
  };
  // The referenced objects outlive the watch.
  explicit FinitenessWatch(const Parts& parts) : parts_(parts) {}

  // Begin, CheckLoss and CheckSaves return true iff training must stop.

  // Called before the first operation in a generation. An error means that
  // values which only a device had are lost.
  Result<bool> Begin(uint64_t generation);
  // Called after each step, with its loss.
  [[nodiscard]] bool CheckLoss(float loss);
  // Called after each evaluation, with its loss.
  void CheckValidation(float loss);
  // Called whenever a save may have ended. Reports a tensor that the save found
  // not finite.
  [[nodiscard]] bool CheckSaves();

 private:
  // Returns true iff a loss or state that is not finite stops training.
  bool MustStop() const {
    return parts_.options.on_not_finite == OnNotFinite::kStop;
  }
  TrainState& state() const { return parts_.resident.host(); }
  void ReportOnce(const std::string& what, uint32_t loss_bits);
  std::string Consequence() const;

  Parts parts_;
  uint64_t generation_ = 0;
  bool reported_ = false;
  bool validation_reported_ = false;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_LOOP_FINITENESS_WATCH_H_
