#include "harness/cli/report/case_logs.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <system_error>
#include <utility>

#include "engine/real/posix/folder_entries.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

LogTail ReadLog(const fs::path& file, std::string name) {
  LogTail log = {.name = std::move(name)};
  std::error_code error;
  const uintmax_t bytes = fs::file_size(file, error);
  if (error) return log;
  log.bytes = bytes;
  std::ifstream in(file, std::ios::binary);
  if (bytes > kMostLogBytes) {
    in.seekg(static_cast<std::streamoff>(bytes - kMostLogBytes));
  }
  log.end.resize(kMostLogBytes);
  in.read(log.end.data(), static_cast<std::streamsize>(log.end.size()));
  log.end.resize(static_cast<size_t>(in.gcount()));
  return log;
}

// Files of a folder. The key has the one or two numbers in the name of the
// file.
using NumberedFiles = std::map<std::pair<int, int>, fs::path>;

// Returns the files whose names match `pattern`, a format of sscanf. `name`
// returns the name that a file with these numbers must have.
template <typename Name>
NumberedFiles FilesLike(const fs::path& folder, const char* pattern,
                        const Name& name) {
  NumberedFiles files;
  std::error_code error;
  for (const auto& entry : EntriesOf(folder)) {
    std::pair<int, int> numbers;
    const std::string found = entry.path().filename();
    std::sscanf(found.c_str(), pattern, &numbers.first, &numbers.second);
    if (!entry.is_regular_file(error) || found != name(numbers)) continue;
    files.emplace(numbers, entry.path());
  }
  return files;
}

}  // namespace

std::vector<LogTail> LogsOf(const CaseResult& result) {
  std::vector<LogTail> logs;
  if (result.directory.empty() || result.world != "real") return logs;
  const fs::path folder = result.directory;
  const auto launch_name = [](std::pair<int, int> numbers) {
    return fmt::format("launch-{}.json", numbers.first);
  };
  const auto worker_name = [](std::pair<int, int> numbers) {
    return fmt::format("worker-{}-life-{}.log", numbers.first, numbers.second);
  };
  for (const auto& [numbers, file] :
       FilesLike(folder, "launch-%d", launch_name)) {
    logs.push_back(ReadLog(file, fmt::format("launch {}", numbers.first)));
  }
  for (const auto& [numbers, file] :
       FilesLike(folder / "logs", "worker-%d-life-%d", worker_name)) {
    logs.push_back(ReadLog(file, fmt::format("worker {}, incarnation {}",
                                             numbers.first, numbers.second)));
  }
  return logs;
}

}  // namespace gauntlet
