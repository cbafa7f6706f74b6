// The two streams that a command writes to.
#ifndef GAUNTLET_HARNESS_CLI_CONSOLE_H_
#define GAUNTLET_HARNESS_CLI_CONSOLE_H_

#include <functional>
#include <ostream>

#include "harness/cli/terminal_style.h"

namespace gauntlet {

// Results go to `out`, everything that is said meanwhile to `err`.
struct Console {
  std::ostream& out;
  std::ostream& err;
  TerminalStyle out_style;
  TerminalStyle err_style;
  // Where the streams are written to later: gives what was written so far a
  // short time to reach its readers. Empty: it reaches them at once.
  std::function<void()> settle = {};

  void Settle() const {
    out.flush();
    err.flush();
    if (settle) settle();
  }
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_CONSOLE_H_
