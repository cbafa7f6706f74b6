// Stacks that are large enough under a small `ulimit -s`.
#ifndef GAUNTLET_HARNESS_CLI_PROGRAM_AMPLE_STACK_H_
#define GAUNTLET_HARNESS_CLI_PROGRAM_AMPLE_STACK_H_

#include <functional>

namespace gauntlet {

// Runs `body`, on a thread of its own where the stack limit is below 8 MiB, and
// returns its result. Threads that are started from then on have 8 MiB too:
// without this, each takes the limit as its size. REQUIRES: no other thread
// runs.
int RunWithAmpleStack(const std::function<int()>& body);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_PROGRAM_AMPLE_STACK_H_
