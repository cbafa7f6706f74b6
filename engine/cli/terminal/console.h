// The two streams that a command writes to.
#ifndef GAUNTLET_ENGINE_CLI_TERMINAL_CONSOLE_H_
#define GAUNTLET_ENGINE_CLI_TERMINAL_CONSOLE_H_

#include <functional>
#include <ostream>

#include "engine/cli/terminal/terminal_style.h"

namespace gauntlet {

// Results go to `out`, all other messages to `err`.
struct Console {
  std::ostream& out;
  std::ostream& err;
  TerminalStyle out_style;
  TerminalStyle err_style;
  // Waits briefly until the text written so far has been read. Empty: the
  // streams write synchronously.
  std::function<void()> settle = {};

  void Flush() const {
    out.flush();
    err.flush();
    if (settle) settle();
  }
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CLI_TERMINAL_CONSOLE_H_
