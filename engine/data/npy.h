// Samples from a folder of NumPy arrays, named as Keras names them.
#ifndef GAUNTLET_ENGINE_DATA_NPY_H_
#define GAUNTLET_ENGINE_DATA_NPY_H_

#include <cstdint>
#include <string>

#include "engine/data/raw_samples.h"
#include "engine/status.h"
#include "engine/world/storage.h"

namespace gauntlet {

struct NpySource {
  std::string directory;
  uint32_t classes = kImageClasses;  // every label is below this number
};

// Reads <directory>/x_train.npy and y_train.npy, or x_test.npy and y_test.npy.
// Features: u1 or f4 of shape (samples, features), (samples, height, width) or
// (samples, height, width, channels); f4 values must be finite and are not
// scaled. Labels: u1, i4 or i8 of shape (samples) or (samples, 1).
// kInvalidArgument: a file is missing or malformed; the message has its name,
// the offset, what was expected and what was found.
Result<RawSamples> ReadNpy(Storage& storage, const NpySource& source,
                           DataPart part);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_DATA_NPY_H_
