// Words of commands that are printed for users to run again.
#ifndef GAUNTLET_HARNESS_RUN_FILES_SHELL_WORD_H_
#define GAUNTLET_HARNESS_RUN_FILES_SHELL_WORD_H_

#include <string>
#include <string_view>

namespace gauntlet {

// Returns the text as one word for a POSIX shell, in quotes if necessary. If
// the text has control characters or is not UTF-8, the result has the form
// $'…', which bash, ksh and zsh accept. So the result is always one line of
// printable characters.
std::string ShellWord(std::string_view text);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RUN_FILES_SHELL_WORD_H_
