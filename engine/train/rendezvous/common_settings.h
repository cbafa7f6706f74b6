// Settings that must be equal on all workers of a run. If each worker is
// started by hand, or by a cluster's scheduler, nothing else checks that they
// are equal.
#ifndef GAUNTLET_ENGINE_TRAIN_RENDEZVOUS_COMMON_SETTINGS_H_
#define GAUNTLET_ENGINE_TRAIN_RENDEZVOUS_COMMON_SETTINGS_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "engine/status.h"
#include "engine/train/options.h"

namespace gauntlet {

// Returns equal bytes iff the job, and all settings that affect its computation
// and the order of exchanges, are equal.
std::string EncodeCommonSettings(const TrainOptions& options,
                                 const std::string& job_json);

// Checks that the encoded settings can be compared: kDataLoss or
// kInvalidArgument if not.
Status CheckSettings(std::string_view encoded);

// Compares the settings of the chief and of a rank. kInvalidArgument names the
// rank and the differences; kUnavailable: the rank's bytes are malformed.
Status CompareSettings(std::string_view chief, std::string_view other,
                       size_t rank);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_TRAIN_RENDEZVOUS_COMMON_SETTINGS_H_
