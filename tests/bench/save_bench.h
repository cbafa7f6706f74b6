// What saves beside the training cost on a device.
#ifndef GAUNTLET_TESTS_BENCH_SAVE_BENCH_H_
#define GAUNTLET_TESTS_BENCH_SAVE_BENCH_H_

#include <cstddef>

#include "engine/gpu/device_api.h"
#include "engine/status.h"

namespace gauntlet {

struct SaveBenchSize {
  // Of each hidden layer, of which there are two; Adam's state is three times
  // the parameters, 12 bytes for each.
  int units = 9000;  // 1.06 GB
  int steps = 200;   // timed without a save
  int saves = 5;     // timed
};

// Trains as the only worker, first without saves, then with one as often as
// keeps the disk 80 % busy, and prints what a step takes in both and how busy
// disk and copy link were; and how fast a save's copy comes to the host beside
// the steps and the same bytes alone. Checkpoints go to the folder for
// temporary files ($TMPDIR), and are removed.
Status BenchSaves(const gpu::DeviceApi& api, const SaveBenchSize& size);

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_BENCH_SAVE_BENCH_H_
