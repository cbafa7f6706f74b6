#include "harness/cli/old_runs.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <system_error>
#include <vector>

#include "engine/real/posix_status.h"
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

constexpr const char* kResultFile = "result.json";

Descriptor OpenFolder(const fs::path& path) {
  return Descriptor(RetryOnInterrupt(
      [&] { return open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
}

// Removes the digits that the text begins with; returns their number.
size_t TakeDigits(std::string_view& text) {
  const size_t count =
      std::min(text.find_first_not_of("0123456789"), text.size());
  text.remove_prefix(count);
  return count;
}

bool TakeCharacter(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

// Names of finished runs; the oldest first, as ids begin with the time.
std::vector<std::string> FinishedRuns(const fs::path& runs) {
  std::vector<std::string> names;
  std::error_code error;
  for (auto entry = fs::directory_iterator(runs, error);
       !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::error_code unreadable;
    const fs::path& path = entry->path();
    const std::string name = path.filename().string();
    const bool is_finished =
        IsRunId(name) && fs::is_directory(entry->symlink_status(unreadable)) &&
        fs::is_regular_file(fs::symlink_status(path / kResultFile, unreadable));
    if (is_finished) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

// What makes the run a finished one goes last: a run that cannot be removed
// whole is met again.
std::error_code RemoveRun(const fs::path& run) {
  std::error_code error;
  std::vector<fs::path> entries;
  for (auto entry = fs::directory_iterator(run, error);
       !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (entry->path().filename() != kResultFile) {
      entries.push_back(entry->path());
    }
  }
  for (const fs::path& entry : entries) {
    if (!error) fs::remove_all(entry, error);
  }
  if (!error) fs::remove_all(run, error);
  return error;
}

enum class RunEnd : uint8_t { kRemoved, kInUse, kFailed };

RunEnd TryToRemove(const fs::path& run, std::string& problem) {
  const auto note = [&](const std::string& message) {
    if (problem.empty()) {
      problem = fmt::format("{}: {}", run.string(), message);
    }
    return RunEnd::kFailed;
  };
  const Descriptor folder = OpenFolder(run);
  if (!folder.valid()) return note(std::strerror(errno));
  if (RetryOnInterrupt(
          [&] { return flock(folder.get(), LOCK_EX | LOCK_NB); }) != 0) {
    return errno == EWOULDBLOCK ? RunEnd::kInUse : note(std::strerror(errno));
  }
  const std::error_code error = RemoveRun(run);
  return error ? note(error.message()) : RunEnd::kRemoved;
}

}  // namespace

bool IsRunId(std::string_view name) {
  if (TakeDigits(name) != 8 || !TakeCharacter(name, 'T')) return false;
  if (TakeDigits(name) != 6 || !TakeCharacter(name, '-')) return false;
  if (TakeDigits(name) == 0) return false;
  if (name.empty()) return true;
  return TakeCharacter(name, '.') && TakeDigits(name) > 0 && name.empty();
}

RunLock::RunLock(const fs::path& run) : folder_(OpenFolder(run)) {
  if (!folder_.valid()) return;
  static_cast<void>(RetryOnInterrupt(
      [this] { return flock(folder_.get(), LOCK_SH | LOCK_NB); }));
}

RunsRemoved RemoveOldRuns(const fs::path& runs, size_t keep) {
  std::error_code none;
  const fs::path latest =
      fs::read_symlink(runs / "latest", none).lexically_normal().filename();
  const std::vector<std::string> names = FinishedRuns(runs);
  RunsRemoved result = {.kept = names.size()};
  const size_t old = names.size() - std::min(names.size(), keep);
  for (size_t i = 0; i < old; ++i) {
    if (names[i] == latest) continue;
    if (TryToRemove(runs / names[i], result.problem) == RunEnd::kRemoved) {
      ++result.removed;
      --result.kept;
    }
  }
  return result;
}

}  // namespace gauntlet
