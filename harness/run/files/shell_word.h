// Words of commands that are printed for users to run again.
#ifndef GAUNTLET_HARNESS_RUN_FILES_SHELL_WORD_H_
#define GAUNTLET_HARNESS_RUN_FILES_SHELL_WORD_H_

#include <string>
#include <string_view>

namespace gauntlet {

// Returns the text as one word for a POSIX shell, quoted if need be. A text
// that has control characters or is not UTF-8 becomes one line of printable
// characters too: in the form $'…', which bash, ksh and zsh accept.
std::string ShellWord(std::string_view text);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FILES_SHELL_WORD_H_
