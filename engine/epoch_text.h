// Epochs in texts for people.
//
// Records, events and the scenario key `at.epoch` number epochs from 0. People
// count from 1: "epoch 3" is the third one, in progress or just ended. A state
// is described by its "epochs completed".
#ifndef GAUNTLET_ENGINE_EPOCH_TEXT_H_
#define GAUNTLET_ENGINE_EPOCH_TEXT_H_

#include <cstdint>
#include <string>

#include <fmt/format.h>

namespace gauntlet {

// Returns "epoch 3" for index 2. The index is also the number of epochs
// completed before.
inline std::string EpochName(uint64_t index) {
  return fmt::format("epoch {}", index + 1);
}

// Returns "1 epoch completed", "2 epochs completed".
inline std::string EpochsCompleted(uint64_t count) {
  return fmt::format("{} epoch{} completed", count, count == 1 ? "" : "s");
}

// Returns the position of a state in the data: "2 epochs completed" between two
// epochs, else "epoch 3, sample 7680".
inline std::string EpochPosition(uint64_t completed, uint64_t sample) {
  return sample == 0
             ? EpochsCompleted(completed)
             : fmt::format("{}, sample {}", EpochName(completed), sample);
}

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_EPOCH_TEXT_H_
