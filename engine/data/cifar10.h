// The binary version of CIFAR-10 (https://www.cs.toronto.edu/~kriz/cifar.html):
// a file is a sequence of samples of 3073 bytes. A sample is a label, then the
// 32 x 32 red values, the green ones and the blue ones, each row-major.
#ifndef GAUNTLET_ENGINE_DATA_CIFAR10_H_
#define GAUNTLET_ENGINE_DATA_CIFAR10_H_

#include <string>

#include "engine/data/raw_samples.h"
#include "engine/status.h"
#include "engine/world/storage.h"

namespace gauntlet {

inline constexpr uint32_t kCifar10Side = 32;
inline constexpr uint32_t kCifar10Channels = 3;

// Reads <directory>/data_batch_1.bin to data_batch_5.bin, or test_batch.bin.
// Each file has at least one sample (the originals have 10,000 each). In the
// result the three channels of a pixel are adjacent. kInvalidArgument: a file
// is missing or malformed; the message has its name, the offset, what was
// expected and what was found.
Result<RawSamples> ReadCifar10(Storage& storage, const std::string& directory,
                               DataPart part);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_DATA_CIFAR10_H_
