// Words of commands that people are shown to be run again.
#ifndef GAUNTLET_HARNESS_RUN_FILES_SHELL_WORD_H_
#define GAUNTLET_HARNESS_RUN_FILES_SHELL_WORD_H_

#include <string>
#include <string_view>

namespace gauntlet {

// The text as one word for a POSIX shell, quoted where it has to be. One with
// control characters, or that is no UTF-8, is one line of printable characters
// all the same: as $'…', which bash, ksh and zsh know.
std::string ShellWord(std::string_view text);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FILES_SHELL_WORD_H_
