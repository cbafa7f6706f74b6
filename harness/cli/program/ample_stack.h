// Large enough stacks under a small `ulimit -s`.
#ifndef GAUNTLET_HARNESS_CLI_PROGRAM_AMPLE_STACK_H_
#define GAUNTLET_HARNESS_CLI_PROGRAM_AMPLE_STACK_H_

#include <functional>

namespace gauntlet {

// Runs `body` and returns its result; uses a new thread if the stack limit is
// below 8 MiB. Threads that are started later also get 8 MiB, even if the limit
// is lower. REQUIRES: no other thread runs.
int RunWithAmpleStack(const std::function<int()>& body);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_PROGRAM_AMPLE_STACK_H_
