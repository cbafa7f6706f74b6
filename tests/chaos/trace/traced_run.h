// Runs of the victim under the tracer, in folders that are removed afterwards.
#ifndef GAUNTLET_TESTS_CHAOS_TRACE_TRACED_RUN_H_
#define GAUNTLET_TESTS_CHAOS_TRACE_TRACED_RUN_H_

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "chaos/trace/log/operation_log.h"
#include "chaos/trace/process/process_files.h"
#include "chaos/trace/tracer.h"
#include "tests/chaos/trace/directory_text.h"
#include "tests/chaos/trace/folder.h"
#include "tests/chaos/trace/replay.h"

namespace gauntlet {

// One run of the victim, with its watched directory and its log.
class TracedRun {
 public:
  TracedRun() {
    auto created = OperationLog::Create(folder_.Make("log"), {out()}, {});
    EXPECT_TRUE(created.ok()) << created.status().ToString();
    log_.emplace(std::move(created).value());
    options.directories = {out()};
    options.log = &*log_;
  }

  TraceOptions options;

  // In the arguments, `{out}` is replaced by the watched directory, and
  // `{aside}` by one that is not watched.
  Result<TraceOutcome> Start(std::vector<std::string> arguments) {
    for (std::string& argument : arguments) {
      if (argument == "{out}") argument = out();
      if (argument == "{aside}") argument = aside();
    }
    arguments.insert(arguments.begin(), VICTIM);
    return Trace({.arguments = std::move(arguments)}, options);
  }
  // Like Start, but expects that the program is traced to its end.
  TraceOutcome Run(std::vector<std::string> arguments) {
    auto outcome = Start(std::move(arguments));
    EXPECT_TRUE(outcome.ok()) << outcome.status().ToString();
    return outcome.ok() ? *outcome : TraceOutcome{};
  }

  std::string out() const { return folder_.Make("out"); }
  std::string aside() const { return folder_.Make("aside"); }
  const Folder& folder() const { return folder_; }
  OperationLog& log() { return *log_; }
  const std::vector<FileOperation>& operations() const {
    return log_->operations();
  }
  size_t CountOf(OperationKind kind) const {
    size_t count = 0;
    for (const FileOperation& operation : operations())
      count += operation.kind == kind ? 1 : 0;
    return count;
  }
  // Returns the operations in words, one per line.
  std::string Text() const {
    std::string text;
    for (const FileOperation& operation : operations())
      text += DescribeFileOperation(operation) + "\n";
    return text;
  }

  // Expects that the log reproduces the directory that the program left.
  void ExpectReplayed() {
    Replay replay(*log_, folder_.Make("replayed"));
    const Status status = replay.DoAll();
    EXPECT_TRUE(status.ok()) << status.ToString() << "\n" << Text();
    EXPECT_EQ(DirectoryText(replay.Directory(0)), DirectoryText(out()))
        << Text();
  }

 private:
  Folder folder_;
  std::optional<OperationLog> log_;
};

// Returns false for a process that has ended but has not been reaped yet.
inline bool IsRunning(pid_t process) {
  return !ReadLinkText("/proc/" + std::to_string(process) + "/exe").empty();
}

// Skips tests, with a reason, if the system forbids tracing.
class TraceTest : public testing::Test {
 protected:
  void SetUp() override {
    const Folder folder;
    TraceOptions options;
    options.directories = {folder.path()};
    const auto outcome = Trace({.arguments = {VICTIM, "exit", "0"}}, options);
    if (outcome.status().code() == Code::kForbidden)
      GTEST_SKIP() << outcome.status().message();
    ASSERT_TRUE(outcome.ok()) << outcome.status().ToString();
  }
};

inline bool Contains(const std::vector<std::string>& notes,
                     const std::string& text) {
  for (const std::string& note : notes) {
    if (note.find(text) != std::string::npos) return true;
  }
  return false;
}

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_CHAOS_TRACE_TRACED_RUN_H_
