// What all workers of a run have to be told alike. Where each is started by
// hand, or by a cluster's own means, nobody else sees to it.
#ifndef GAUNTLET_ENGINE_TRAIN_COMMON_SETTINGS_H_
#define GAUNTLET_ENGINE_TRAIN_COMMON_SETTINGS_H_

#include <string>
#include <string_view>
#include <vector>

#include "engine/digest.h"
#include "engine/status.h"
#include "engine/train/options.h"

namespace gauntlet {

// Equal where the job and all that decides what is exchanged when are.
Digest CommonSettingsDigest(const TrainOptions& options,
                            std::string_view job_json);

// The same in words, as one JSON object.
std::string CommonSettingsToJson(const TrainOptions& options,
                                 std::string_view job_json);

// By rank, as CommonSettingsToJson gave them. kInvalidArgument names the first
// rank that differs from the chief, and in what.
Status CompareSettings(const std::vector<std::string>& by_rank);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_COMMON_SETTINGS_H_
