// Measures how fast the machine itself copies, writes, reads and sends as many
// bytes as a checkpoint has.
#ifndef GAUNTLET_HARNESS_BENCH_MACHINE_LIMITS_H_
#define GAUNTLET_HARNESS_BENCH_MACHINE_LIMITS_H_

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "engine/status.h"
#include "harness/bench/figures/checkpoint_result.h"

namespace gauntlet {

// By limit, in bytes per second; nullopt: this file system does not support it.
using MachineSample = std::array<std::optional<double>, kMachineLimits>;

// Measures each limit once with that many bytes, in files of `directory` that
// are removed again:
//   memcpy          between two buffers that have been written before
//   write+fsync     into a new file, through the page cache
//   O_DIRECT+fsync  into a new file, past the page cache, in blocks of 4 MiB
//   cold read       of the newer file, after the cache has dropped its pages
//   loopback        one TCP stream from a thread to another
// kIoError, kResourceExhausted: a file could not be written or read.
Result<MachineSample> MeasureMachine(const std::filesystem::path& directory,
                                     uint64_t bytes);

// Describes this machine, with the file system of `directory`.
BenchContext DescribeMachine(const std::filesystem::path& directory);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_BENCH_MACHINE_LIMITS_H_
