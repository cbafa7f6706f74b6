// Random programs of file operations, as lines of the victim's script.
#ifndef GAUNTLET_TESTS_CHAOS_TRACE_RANDOM_SCRIPT_H_
#define GAUNTLET_TESTS_CHAOS_TRACE_RANDOM_SCRIPT_H_

#include <cstddef>
#include <fstream>
#include <string>
#include <vector>

#include <rapidcheck/gtest.h>

#include "tests/chaos/trace/traced_run.h"
#include <fmt/format.h>

namespace gauntlet {

// Returns one of a few names, so that operations often act on the same file.
// Some names lead out of the watched directory, or out of it and back in.
inline rc::Gen<std::string> ArbitraryName() {
  return rc::gen::element<std::string>("a", "b", "c", "d", "d/a", "d/b", "e",
                                       "e/a", "e/d", "d/../c", "../aside/x",
                                       "../aside/y", "../out/b");
}

// Returns a line of the victim's script.
inline rc::Gen<std::string> ArbitraryLine() {
  return rc::gen::exec([] {
    const std::string verb = *rc::gen::element<std::string>(
        "open", "open", "create", "empty", "unnamed", "name", "write", "write",
        "write", "pwrite", "pwrite", "append", "append", "truncate", "punch",
        "allocate", "rename", "rename", "exchange", "link", "symlink", "unlink",
        "mkdir", "mkdir", "rmdir", "chmod", "fsync");
    const std::string first =
        verb == "unnamed" ? *rc::gen::element<std::string>(".", "d", "e")
                          : *ArbitraryName();
    return fmt::format("{} {} {} {} {}", verb, first, *ArbitraryName(),
                       *rc::gen::inRange(0, 3), *rc::gen::inRange(0, 9000));
  });
}

// Returns a script of random lines, which shrinks towards fewer lines.
inline rc::Gen<std::vector<std::string>> ArbitraryScript(int lines) {
  return rc::gen::resize(
      lines, rc::gen::container<std::vector<std::string>>(ArbitraryLine()));
}

inline TraceOutcome RunScript(TracedRun& run,
                              const std::vector<std::string>& lines) {
  run.aside();
  const std::string script = run.folder().Make("script") + "/lines";
  std::ofstream file(script);
  // Creates files for the first lines to act on.
  file << "open a - 0 0\nopen b - 1 0\nmkdir d\nopen d/a - 2 0\n";
  for (const std::string& line : lines) file << line << "\n";
  file.close();
  return run.Run({"script", "{out}", script});
}

// Returns the index of operation `count` (from 0) among the operations at which
// an injection can take place; the size of the log if there are fewer.
inline size_t EndOfPrefix(const OperationLog& log, size_t count) {
  size_t i = 0;
  while (i < log.operations().size()) {
    const FileOperation& next = log.operations()[i];
    const bool counts = !next.implied && IsCrashPoint(next.kind);
    if (counts && count == 0) break;
    count -= counts ? 1 : 0;
    ++i;
  }
  return i;
}

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_CHAOS_TRACE_RANDOM_SCRIPT_H_
