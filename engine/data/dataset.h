// Samples, which are features with a label, immutable once loaded.
#ifndef GAUNTLET_ENGINE_DATA_DATASET_H_
#define GAUNTLET_ENGINE_DATA_DATASET_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/digest.h"
#include "engine/job/job.h"
#include "engine/sample_shape.h"
#include "engine/status.h"
#include "engine/world/storage.h"

namespace gauntlet {

// `features` is samples x height x width x channels, row-major float32: scaled
// to [0, 1] if the source stores bytes, as stored if it stores floats. A label
// is a class index below `classes`.
struct Dataset {
  uint32_t samples = 0;
  uint32_t height = 0;
  uint32_t width = 0;
  uint32_t channels = 1;
  uint32_t classes = 0;
  uint32_t divided_by = 255;  // features = stored values / this
  std::vector<float> features;
  std::vector<uint8_t> labels;
  // Number of samples in each file, in the order of the samples; empty unless
  // they come from several files.
  std::vector<uint32_t> samples_of_files;

  SampleShape shape() const {
    return {.height = height, .width = width, .channels = channels};
  }
  size_t features_per_sample() const { return shape().floats(); }
};

// If the kind of data determines shape, classes and divided_by, returns a
// Dataset that has these but no samples. If only the files determine them,
// returns nullopt.
std::optional<Dataset> DatasetWithoutFiles(const DataSpec& spec);

struct DataSplit {
  Dataset train;
  Dataset validation;
  Digest content;  // digest of both parts as stored; part of the job digest
};

// Generates or reads the data that the spec names. kInvalidArgument: a file is
// missing or malformed; the message has its name, the offset, what was expected
// and what was found.
Result<std::shared_ptr<const DataSplit>> LoadData(Storage& storage,
                                                  const DataSpec& spec);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_DATA_DATASET_H_
