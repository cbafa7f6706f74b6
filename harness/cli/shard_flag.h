// --shard I/N, and the variables by which test runners say the same.
#ifndef GAUNTLET_HARNESS_CLI_SHARD_FLAG_H_
#define GAUNTLET_HARNESS_CLI_SHARD_FLAG_H_

#include <functional>

#include "engine/status.h"
#include "harness/cli/flags.h"
#include "harness/run/shard_choice.h"

namespace gauntlet {

// "2/4".
FlagReader ReadShard(ShardChoice& target);

// The part that GoogleTest's or Bazel's variables choose; all, if none is set.
// `variable` returns the value of an environment variable, or null. Creates the
// file by which the test runner knows that the program takes part.
// kInvalidArgument: the variables make no sense.
Result<ShardChoice> ShardFromEnvironment(
    const std::function<const char*(const char*)>& variable);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_SHARD_FLAG_H_
