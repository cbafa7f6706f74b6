#ifndef GAUNTLET_HARNESS_TRAINER_PYTHON_FORK_SERVER_SCRIPT_H_
#define GAUNTLET_HARNESS_TRAINER_PYTHON_FORK_SERVER_SCRIPT_H_

#include <string_view>

namespace gauntlet {

// Returns the text of fork_server.py.
std::string_view ForkServerScript();

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_TRAINER_PYTHON_FORK_SERVER_SCRIPT_H_
