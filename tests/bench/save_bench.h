// Cost of asynchronous checkpoints while training on a device.
#ifndef GAUNTLET_TESTS_BENCH_SAVE_BENCH_H_
#define GAUNTLET_TESTS_BENCH_SAVE_BENCH_H_

#include <cstddef>

#include "engine/gpu/device_api.h"
#include "engine/status.h"

namespace gauntlet {

struct SaveBenchSize {
  // Units of each of the two hidden layers. With Adam, the state has 12 bytes
  // per parameter: the parameter and its two moments.
  int units = 9000;   // a state of 1.06 GB
  int warm_up = 200;  // number of steps
  int saves = 7;      // number of timed saves
};

// Trains as the only worker, alternating between no saves and saves so frequent
// that one is in progress 80 % of the time. Prints the time per step for both,
// and how long a save's copy to the host blocks training. Also prints the rate
// of that copy while steps run, and that of a plain copy of the same bytes.
// Writes checkpoints to the folder for temporary files ($TMPDIR) and removes
// them.
// Returns kDataLoss if a copy differs from the state.
Status BenchSaves(const gpu::DeviceApi& api, const SaveBenchSize& size);

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_BENCH_SAVE_BENCH_H_
