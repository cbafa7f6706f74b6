// What all workers of a run have to be told alike. Where each is started by
// hand, or by a cluster's own means, nobody else sees to it.
#ifndef GAUNTLET_ENGINE_TRAIN_COMMON_SETTINGS_H_
#define GAUNTLET_ENGINE_TRAIN_COMMON_SETTINGS_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "engine/status.h"
#include "engine/train/options.h"

namespace gauntlet {

// Equal bytes where the job, and all that decides how it is worked out and what
// is exchanged when, are equal.
std::string EncodeCommonSettings(const TrainOptions& options,
                                 const std::string& job_json);

// kDataLoss or kInvalidArgument unless they can be compared with others.
Status CheckSettings(std::string_view encoded);

// What the chief was told and what a rank was. kInvalidArgument names the rank
// and the differences; kUnavailable: what came from the rank is no settings.
Status CompareSettings(std::string_view chief, std::string_view other,
                       size_t rank);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_COMMON_SETTINGS_H_
