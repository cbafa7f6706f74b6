// Rows of features with labels, immutable once loaded.
#ifndef GAUNTLET_ENGINE_DATA_DATASET_H_
#define GAUNTLET_ENGINE_DATA_DATASET_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/digest.h"
#include "engine/job/job.h"
#include "engine/status.h"
#include "engine/world/storage.h"

namespace gauntlet {

// `features` is rows x features_per_row, row-major float32 in [0, 1]; a label
// is a class index below `classes`.
struct Dataset {
  uint32_t rows = 0;
  uint32_t height = 0;
  uint32_t width = 0;
  uint32_t classes = 0;
  std::vector<float> features;
  std::vector<uint8_t> labels;

  size_t features_per_row() const { return size_t{height} * width; }
};

struct DataSplit {
  Dataset train;
  Dataset validation;
  Digest content;  // of both, as stored bytes: part of the job digest
};

// Makes or reads what the spec names. kInvalidArgument for a malformed or
// missing file: names file, offset, what was expected and what was found.
Result<std::shared_ptr<const DataSplit>> LoadData(Storage& storage,
                                                  const DataSpec& spec);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_DATA_DATASET_H_
