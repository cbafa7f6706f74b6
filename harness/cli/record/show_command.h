// `gauntlet show`: the timeline of a stored record.
#ifndef GAUNTLET_HARNESS_CLI_RECORD_SHOW_COMMAND_H_
#define GAUNTLET_HARNESS_CLI_RECORD_SHOW_COMMAND_H_

#include <cstddef>

#include "engine/cli/terminal/console.h"
#include "harness/cli/flags/commands.h"
#include "reports/timeline_table.h"

namespace gauntlet {

// Maximum number of lines of one text on a terminal; longer texts end in "...".
inline constexpr size_t kMostLinesOnTerminal = 4;

// Returns a style as wide as the terminal, with line art if the terminal has
// UTF-8 and colour is on. Texts are cut only on a terminal.
TableStyle TableStyleOf(const TerminalStyle& style);

// Returns the exit code: 0; 4 if no event is between --from and --to; 2 for
// other errors, such as a --worker without events in the record.
int RunShow(const ShowCommand& command, Console& console);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_CLI_RECORD_SHOW_COMMAND_H_
