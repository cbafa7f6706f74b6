// The two streams that a command writes to.
#ifndef GAUNTLET_HARNESS_CLI_TERMINAL_CONSOLE_H_
#define GAUNTLET_HARNESS_CLI_TERMINAL_CONSOLE_H_

#include <functional>
#include <ostream>

#include "harness/cli/terminal/terminal_style.h"

namespace gauntlet {

// Results go to `out`, everything that is said meanwhile to `err`.
struct Console {
  std::ostream& out;
  std::ostream& err;
  TerminalStyle out_style;
  TerminalStyle err_style;
  // Waits a short time until text written so far has reached its readers.
  // Empty: the streams write at once.
  std::function<void()> settle = {};

  void Flush() const {
    out.flush();
    err.flush();
    if (settle) settle();
  }
};

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_TERMINAL_CONSOLE_H_
