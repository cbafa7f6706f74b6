#include "harness/cli/report/github_outputs.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <system_error>

#include "harness/cli/run_folders/stored_runs.h"
#include "reports/ci/github_annotations.h"
#include "reports/ci/markdown_summary.h"
#include <fmt/format.h>
#include <fmt/ostream.h>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

// Limit on the summary of one step, below GitHub's 1 MiB.
constexpr size_t kMaxStepSummaryBytes = 1000 * 1024;
// If less space is left, no summary is written.
constexpr size_t kLeastSummaryBytes = 32 * 1024;

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

size_t FileSize(const std::string& file) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(file, error);
  return error ? 0 : static_cast<size_t>(size);
}

Status AppendTo(const std::string& path, const std::string& text) {
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::app);
  file << text;
  file.close();
  if (file) return OkStatus();
  return IoError(fmt::format("GITHUB_STEP_SUMMARY: {}: cannot be written: {}",
                             path, std::strerror(errno)));
}

// Appends the summary, with an empty line between it and an earlier summary of
// the step. Prints a note instead if there is no space left.
Status AppendSummary(const RunResult& result, const std::string& file,
                     Console& console) {
  const size_t used = FileSize(file);
  if (used + kLeastSummaryBytes > kMaxStepSummaryBytes) {
    fmt::print(console.err,
               "gauntlet: note: the summary of this step has no room left: it "
               "has {} KiB, and GitHub drops more than 1024 KiB\n",
               used / 1024);
    return OkStatus();
  }
  MarkdownLimits limits;
  limits.bytes = std::min(limits.bytes, kMaxStepSummaryBytes - used - 2);
  return AppendTo(file,
                  (used > 0 ? "\n\n" : "") +
                      RenderMarkdownSummary(
                          {.result = result, .load = StoredRecordOf}, limits));
}

}  // namespace

GithubStep GithubStepOfEnvironment() {
  return {.summary_file = Variable("GITHUB_STEP_SUMMARY"),
          .workspace = Variable("GITHUB_WORKSPACE")};
}

Status PostToGithub(const RunResult& result, const GithubStep& step,
                    Console& console) {
  std::error_code error;
  console.out << RenderGithubAnnotations(
                     result, {.workspace = step.workspace,
                              .directory = fs::current_path(error).string()})
              << std::flush;
  if (!step.summary_file.empty()) {
    return AppendSummary(result, step.summary_file, console);
  }
  fmt::print(console.err,
             "gauntlet: note: --github: GITHUB_STEP_SUMMARY is not set, so no "
             "summary was appended; the run's folder has summary.md\n");
  return OkStatus();
}

}  // namespace gauntlet
