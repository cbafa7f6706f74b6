#include "harness/cli/report/case_logs.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <system_error>
#include <utility>

#include "engine/real/posix/folder_entries.h"
#include "harness/run/executor/event_folder.h"
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

// Returns the files launch-N.json of a folder, by N.
std::map<int, fs::path> FilesOfLaunches(const fs::path& folder) {
  std::map<int, fs::path> files;
  std::error_code error;
  for (const auto& entry : EntriesOf(folder)) {
    int number = 0;
    const std::string name = entry.path().filename();
    std::sscanf(name.c_str(), "launch-%d", &number);
    const bool is_launch = name == fmt::format("launch-{}.json", number);
    if (is_launch && entry.is_regular_file(error)) {
      files.emplace(number, entry.path());
    }
  }
  return files;
}

}  // namespace

std::vector<LogTail> LogsOf(const CaseResult& result) {
  std::vector<LogTail> logs;
  if (result.directory.empty() || result.world != "real") return logs;
  const fs::path folder = result.directory;
  for (const auto& [number, file] : FilesOfLaunches(folder)) {
    logs.push_back(ReadLog(file, fmt::format("launch {}", number)));
  }
  std::error_code error;
  for (const auto& [key, file] : FilesOfWorkers(folder / "logs", ".log")) {
    if (!fs::is_regular_file(file, error)) continue;
    logs.push_back(ReadLog(
        file, fmt::format("worker {}, incarnation {}", key.first, key.second)));
  }
  return logs;
}

}  // namespace gauntlet
