// --shard I/N, and the equivalent variables of test runners.
#ifndef GAUNTLET_HARNESS_CLI_FLAGS_SHARD_FLAG_H_
#define GAUNTLET_HARNESS_CLI_FLAGS_SHARD_FLAG_H_

#include <functional>

#include "engine/cli/flags/flags.h"
#include "engine/status.h"
#include "harness/run/shard_choice.h"

namespace gauntlet {

// Returns a reader of shards such as "2/4".
FlagReader ReadShard(ShardChoice& target);

// Returns the shard that Bazel's or GoogleTest's variables select, or all cases
// if none is set. `variable` returns the value of an environment variable, or
// null. Creates the status file that confirms support for sharding to the test
// runner. kInvalidArgument: index or total is out of range.
Result<ShardChoice> ShardFromEnvironment(
    const std::function<const char*(const char*)>& variable);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_FLAGS_SHARD_FLAG_H_
