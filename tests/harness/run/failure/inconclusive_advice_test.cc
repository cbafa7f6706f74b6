// Advice on cases that are inconclusive for another reason than a fault.
#include "harness/run/failure/inconclusive_advice.h"

#include <cerrno>
#include <fstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "engine/real/posix/posix_status.h"
#include "harness/run/files/disk_room.h"
#include "harness/run/files/oom_kills.h"
#include "harness/run/files/text_file.h"
#include "tests/engine/real/scratch_directory.h"
#include <sys/resource.h>

namespace gauntlet {
namespace {

// Returns the error about a file that is as long as the limit on file sizes.
std::string ErrorAtFileLimit(const ScratchDirectory& scratch) {
  std::ofstream(scratch / "a.jsonl") << "events";
  rlimit former = {};
  getrlimit(RLIMIT_FSIZE, &former);
  const rlimit small = {.rlim_cur = 1, .rlim_max = former.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  std::string error = FindFileAtLimit({scratch.path()});
  setrlimit(RLIMIT_FSIZE, &former);
  return error;
}

// The errors come from the functions that report them, so that a new text needs
// new advice.
TEST(InconclusiveAdviceTest, ErrorOfTheMachine_NamesTheLimitToRaise) {
  const ScratchDirectory scratch;
  const std::string file_sizes =
      "raise the limit on file sizes (ulimit -f) and repeat the run";
  const std::string memory =
      "free memory or raise its limit (ulimit -v, or the cgroup's), or run "
      "fewer cases at a time (-j), and repeat the run";
  const auto in_log = [](std::string_view line) {
    return "/r/logs/a.log: " + std::string(RanOutIn(line));
  };
  const struct {
    std::string error;
    std::string advice;
  } rows[] = {
      {PosixError(EFBIG, "/r/record.jsonl", "cannot be written").message(),
       file_sizes},
      {ErrorAtFileLimit(scratch), file_sizes},
      {PosixError(EMFILE, "descriptor", "dup").message(),
       "raise the limit on open files (ulimit -n) and repeat the run"},
      {in_log(kOutOfThreads),
       "raise the limit on processes (ulimit -u or pids.max) or on memory "
       "(ulimit -v), or run fewer cases at a time (-j), and repeat the run"},
      {in_log(kOutOfMemory), memory},
      {in_log("b.cc:330] tcmalloc: allocation failed 73728 "), memory},
      {WriteTextFile("/dev/full", "text").message(),
       "free space and repeat the run"},
      {WriteTextFile(scratch / "none/record.jsonl", "text").message(),
       "repeat the run, and leave its folder in place until it ends"},
      {"no port", ""}};
  for (const auto& row : rows) {
    EXPECT_EQ(AdviceOnMachineError(row.error), row.advice) << row.error;
    Record record;
    record.harness_error = row.error;
    EXPECT_EQ(AdviceOnInconclusive(record, {}), row.advice) << row.error;
  }
}

TEST(InconclusiveAdviceTest, RunWithoutAnEvent_HasOutputAndLogs) {
  Record record;
  CaseResult result = {.world = "real",
                       .directory = "/r/c.real",
                       .verdict = {.kind = VerdictKind::kError,
                                   .reason = "no worker emitted an event"}};
  EXPECT_EQ(AdviceOnInconclusive(record, result), "") << "nothing was started";
  record.launchers.resize(1);
  EXPECT_EQ(AdviceOnInconclusive(record, result),
            "see the output of the launcher (/r/c.real/launch-1.json) and of "
            "the workers (/r/c.real/logs)");
  record.incarnations = {
      {.worker = 0, .number = 1, .events = {{.kind = RecordKind::kStep}}}};
  EXPECT_EQ(AdviceOnInconclusive(record, result),
            "see what each worker did (gauntlet show RUN/CASE --all)");
}

}  // namespace
}  // namespace gauntlet
