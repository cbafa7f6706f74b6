// The options on the sources of preemption notices.
#ifndef GAUNTLET_ENGINE_APP_CLUSTER_NOTICE_FLAGS_H_
#define GAUNTLET_ENGINE_APP_CLUSTER_NOTICE_FLAGS_H_

#include "engine/cli/flags/flags.h"
#include "engine/train/options.h"

namespace gauntlet {

// REQUIRES: `values` outlives the parsing.
void AddNoticeFlags(Flags& flags, PreemptionOptions& values);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_APP_CLUSTER_NOTICE_FLAGS_H_
