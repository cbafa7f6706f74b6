// Default training length of a preset, and measurements of that run: accuracy
// and CPU time.
#ifndef GAUNTLET_ENGINE_JOB_PRESET_RUN_H_
#define GAUNTLET_ENGINE_JOB_PRESET_RUN_H_

#include <cstdint>
#include <string_view>

namespace gauntlet {

struct PresetRun {
  std::string_view preset;
  uint64_t epochs = 1;  // unless the user gives another length
  // Measured share of the validation samples that are classified correctly
  // after these epochs, with one replica and seed 1.
  int accuracy_percent = 0;
  // Measured CPU time of these epochs, with one worker of one thread.
  int seconds = 1;
  std::string_view purpose;
};

// REQUIRES: AllPresets() has the name.
const PresetRun& PresetRunOf(std::string_view preset);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_JOB_PRESET_RUN_H_
