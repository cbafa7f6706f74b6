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
#include "engine/train/state/train_state.h"
#include "engine/world/world.h"

namespace gauntlet {

// One event and one line for people. All workers decide alike: from the same
// state, or from what a save told all of them.
class FinitenessWatch {
 public:
  struct Parts {
    World& world;
    const TrainOptions& options;
    TrainState& state;
    LoopReports& reports;
    LoopSaves& saves;
  };
  // All of it outlives the watch.
  explicit FinitenessWatch(const Parts& parts) : parts_(parts) {}

  // Before the first operation in a generation. An error: what a device kept is
  // lost.
  Status Begin(uint64_t generation);
  // After a step with that loss.
  void LookAtLoss(float loss);
  // After an evaluation with that loss.
  void LookAtValidation(float loss);
  // After saves that may have come out.
  void LookAtSaves();

  bool stops() const { return stops_; }

 private:
  void Say(const std::string& what, uint32_t loss_bits);
  std::string WhatFollows() const;

  Parts parts_;
  uint64_t generation_ = 0;
  bool said_ = false;
  bool validation_said_ = false;
  bool stops_ = false;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_LOOP_FINITENESS_WATCH_H_
