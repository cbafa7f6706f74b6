#include "harness/run/executor/event_folder.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string_view>
#include <system_error>

#include "engine/real/posix/folder_entries.h"
#include "engine/real/storage/incarnation_file.h"
#include "harness/record/event_file.h"

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

// Returns the files of launchers ("launcher-1.jsonl") and those of workers.
std::map<IncarnationKey, fs::path> FilesOfIncarnations(const fs::path& folder) {
  std::map<IncarnationKey, fs::path> files = FilesOfWorkers(folder, ".jsonl");
  for (const auto& entry : EntriesOf(folder)) {
    int incarnation = 0;
    const std::string name = entry.path().filename();
    if (std::sscanf(name.c_str(), "launcher-%d.jsonl", &incarnation) == 1) {
      files[{kLauncherWorker, incarnation}] = entry.path();
    }
  }
  return files;
}

std::string ReadBytes(std::ifstream& in, uint64_t begin, uint64_t bytes) {
  std::string text(bytes, '\0');
  in.clear();
  in.seekg(static_cast<std::streamoff>(begin));
  in.read(text.data(), static_cast<std::streamsize>(bytes));
  text.resize(static_cast<size_t>(in.gcount()));
  return text;
}

uint64_t CountLines(std::ifstream& in, uint64_t begin, uint64_t end) {
  constexpr uint64_t kChunk = uint64_t{1} << 20;
  uint64_t lines = 0;
  for (uint64_t at = begin; at < end; at += kChunk) {
    const std::string text = ReadBytes(in, at, std::min(kChunk, end - at));
    lines += static_cast<uint64_t>(std::ranges::count(text, '\n'));
  }
  return lines;
}

// A part of an event file: its header, and as many of its last lines as fit.
// All lines are complete.
struct FilePart {
  std::string text;
  uint64_t left_out = 0;  // number of lines
};

FilePart ReadPart(const fs::path& file, uint64_t begin, uint64_t most_bytes) {
  std::error_code error;
  const uint64_t end = fs::file_size(file, error);
  if (error || end <= begin) return {};
  std::ifstream in(file, std::ios::binary);
  const uint64_t bytes = end - begin;
  if (bytes <= most_bytes) return {.text = ReadBytes(in, begin, bytes)};
  constexpr uint64_t kMostHeader = 4096;
  std::string header = ReadBytes(in, begin, kMostHeader);
  header.resize(header.find('\n') + 1);  // empty if there is no complete line
  std::string last = ReadBytes(in, end - most_bytes, most_bytes);
  last.erase(0, last.find('\n') + 1);
  return {.text = header + last,
          .left_out = CountLines(in, begin + header.size(), end - last.size())};
}

}  // namespace

std::map<IncarnationKey, fs::path> FilesOfWorkers(const fs::path& folder,
                                                  std::string_view ending) {
  std::map<IncarnationKey, fs::path> files;
  for (const auto& entry : EntriesOf(folder)) {
    const std::string name = entry.path().filename();
    const auto key = ParseIncarnationFileName(name, ending);
    if (!key) continue;
    // If an earlier version also wrote to the folder, an incarnation may have
    // two files. The current name wins.
    const bool is_newest =
        name == IncarnationFileName(key->first, key->second, ending);
    if (is_newest || !files.contains(*key)) files[*key] = entry.path();
  }
  return files;
}

FileLengths LengthsIn(const fs::path& folder) {
  FileLengths lengths;
  std::error_code error;
  for (const auto& entry : EntriesOf(folder)) {
    const uint64_t length = entry.file_size(error);
    if (!error) lengths[entry.path()] = length;
  }
  return lengths;
}

Result<FolderEvents> ReadEventFolder(const fs::path& folder,
                                     const FileLengths& before,
                                     uint64_t most_bytes) {
  const std::map<IncarnationKey, fs::path> files = FilesOfIncarnations(folder);
  FolderEvents events;
  for (const auto& [key, file] : files) {
    const auto length = before.find(file);
    FilePart part = ReadPart(file, length == before.end() ? 0 : length->second,
                             most_bytes / files.size());
    events.left_out += part.left_out;
    // Skips a file without a complete line: its process may have been killed at
    // once.
    if (part.text.find('\n') == std::string::npos) continue;
    Parsed<IncarnationEvents> incarnation =
        ReadEventFile(part.text, file.string());
    if (!incarnation.ok()) return InvalidArgument(incarnation.error);
    events.incarnations.push_back(*std::move(incarnation.value));
  }
  return events;
}

}  // namespace gauntlet
