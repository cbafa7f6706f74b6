// Error messages of --init-from.
#ifndef GAUNTLET_ENGINE_APP_TRAIN_START_ERROR_H_
#define GAUNTLET_ENGINE_APP_TRAIN_START_ERROR_H_

#include <string>

#include "engine/status.h"

namespace gauntlet {

// Returns the error of LoadStartWeights for the source `path` as one line that
// begins with the option. If the path does not exist or cannot be read, the
// line says what is expected there. OK stays OK, and codes do not change.
Status DescribeStartError(const Status& loaded, const std::string& path);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_APP_TRAIN_START_ERROR_H_
