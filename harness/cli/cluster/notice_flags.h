// The options that say where termination notices come from.
#ifndef GAUNTLET_HARNESS_CLI_CLUSTER_NOTICE_FLAGS_H_
#define GAUNTLET_HARNESS_CLI_CLUSTER_NOTICE_FLAGS_H_

#include "engine/train/options.h"
#include "harness/cli/flags/flags.h"

namespace gauntlet {

// `told` outlives the parsing.
void AddNoticeFlags(Flags& flags, PreemptionOptions& told);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_CLUSTER_NOTICE_FLAGS_H_
