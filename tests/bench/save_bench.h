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
  int units = 9000;   // 1.06 GB
  int warm_up = 200;  // steps
  int saves = 7;      // timed
};

// Trains as the only worker, by turns without saves and with one so often that
// it is under way 80 % of the time, and prints what a step takes in both; then
// how long a save's copy holds the training, and how fast it comes to the host
// beside the steps and the same bytes by themselves. Checkpoints go to the
// folder for temporary files ($TMPDIR), and are removed. kDataLoss: a copy is
// not what was to be copied.
Status BenchSaves(const gpu::DeviceApi& api, const SaveBenchSize& size);

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_BENCH_SAVE_BENCH_H_
