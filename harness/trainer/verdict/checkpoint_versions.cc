#include "harness/trainer/verdict/checkpoint_versions.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "chaos/crash/content_digests.h"
#include "chaos/crash/log_walk.h"
#include "chaos/crash/tree_image.h"
#include "engine/real/posix/posix_status.h"
#include "harness/trainer/text/name_pattern.h"
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

namespace gauntlet {
namespace {

constexpr uint32_t kCheckpointDirectory = 0;
// A file that only grows counts as a log if it is written in at least this
// number of bursts (FileHistory::bursts). A checkpoint is written in one burst,
// or in two if another file changes in between.
constexpr uint64_t kLogBursts = 3;

bool MakesContent(const FileOperation& operation) {
  return operation.kind == OperationKind::kCreate ||
         ChangesContent(operation.kind);
}

// The history of one file's contents.
struct FileHistory {
  // First operation of the present contents: the newest operation that creates
  // the file, truncates it to size 0, or is its first change after a sync.
  uint64_t begin = 0;
  bool is_synced = false;  // since the last change
  uint64_t size = 0;
  bool only_grows = true;
  // Number of uninterrupted sequences of changes, separated by changes of other
  // files.
  uint64_t bursts = 0;
  uint64_t last = 0;  // number of the last change, counted over all files
};

class Histories {
 public:
  void Add(const FileOperation& operation, uint64_t number) {
    FileHistory& file = files_[operation.file];
    if (operation.kind == OperationKind::kSyncFile ||
        operation.kind == OperationKind::kSyncData) {
      file.is_synced = true;
    }
    if (!MakesContent(operation)) return;
    ++changes_;
    if (file.bursts == 0 || file.last + 1 != changes_) ++file.bursts;
    file.last = changes_;
    const bool empties =
        operation.kind == OperationKind::kCreate ||
        (operation.kind == OperationKind::kTruncate && operation.length == 0);
    if (empties || file.is_synced || file.begin == 0) file.begin = number;
    file.is_synced = false;
    const bool appends = operation.kind == OperationKind::kWrite &&
                         operation.offset == file.size;
    if (operation.kind == OperationKind::kWrite)
      file.size =
          std::max(file.size, operation.offset + operation.bytes.length);
    if (!appends && operation.kind != OperationKind::kCreate)
      file.only_grows = false;
  }

  uint64_t BeginOf(uint64_t file) const {
    const auto found = files_.find(file);
    return found == files_.end() ? 0 : found->second.begin;
  }
  // Returns the files that only grow and are written in at least this number of
  // bursts.
  std::set<uint64_t> Logs(uint64_t bursts) const {
    std::set<uint64_t> logs;
    for (const auto& [number, file] : files_) {
      if (file.only_grows && file.bursts >= bursts) logs.insert(number);
    }
    return logs;
  }

 private:
  std::map<uint64_t, FileHistory> files_;
  uint64_t changes_ = 0;
};

// Returns for each operation whether the file's contents are complete after it:
// false if the next operation on the file changes the contents again. Closing,
// syncing or renaming a file completes its contents.
std::vector<bool> AreContentsWhole(const OperationLog& log) {
  const std::vector<FileOperation>& operations = log.operations();
  std::vector<bool> whole(operations.size(), true);
  std::map<uint64_t, bool> next_changes;  // by file
  for (size_t i = operations.size(); i-- > 0;) {
    const bool changes = MakesContent(operations[i]);
    bool& next = next_changes[operations[i].file];
    whole[i] = !changes || !next;
    next = changes;
  }
  return whole;
}

std::set<uint64_t> LogFiles(const OperationLog& log, uint64_t bursts) {
  Histories histories;
  for (size_t i = 0; i < log.operations().size(); ++i)
    histories.Add(log.operations()[i], i + 1);
  return histories.Logs(bursts);
}

}  // namespace

std::set<std::string> GrowingFiles(const OperationLog& log) {
  const std::set<uint64_t> growing = LogFiles(log, 2);
  std::set<std::string> paths;
  for (const FileOperation& operation : log.operations()) {
    if (growing.contains(operation.file) &&
        operation.name.directory == kCheckpointDirectory) {
      paths.insert(operation.name.path);
    }
  }
  return paths;
}

Result<FileContents> ContentsOf(
    const std::vector<std::filesystem::path>& directories) {
  FileContents contents;
  for (uint32_t i = 0; i < directories.size(); ++i) {
    std::error_code error;
    std::filesystem::recursive_directory_iterator entry(directories[i], error);
    const std::filesystem::recursive_directory_iterator end;
    for (; !error && entry != end; entry.increment(error)) {
      std::error_code ignored;
      if (entry->symlink_status(ignored).type() !=
          std::filesystem::file_type::regular) {
        continue;
      }
      const Result<Digest> digest = ContentDigestOfFile(entry->path().string());
      // Skips a file that may not be read, as the program could not read it
      // either.
      if (digest.status().code() == Code::kForbidden) continue;
      RETURN_IF_ERROR(digest.status());
      contents[{.directory = i,
                .path = entry->path().lexically_relative(directories[i])}] =
          *digest;
    }
    if (error)
      return PosixError(error.value(), directories[i].string(), "list");
  }
  return contents;
}

bool CheckpointVersions::IsCheckpoint(const FileRead& file) const {
  if (file.directory != kCheckpointDirectory) return false;
  return patterns_.empty() ||
         std::ranges::any_of(patterns_, [&](const std::string& pattern) {
           return fnmatch(pattern.c_str(), file.path.c_str(), 0) == 0;
         });
}

Result<CheckpointVersions> CheckpointVersions::Of(
    const OperationLog& log, const std::vector<std::string>& patterns) {
  CheckpointVersions versions;
  versions.patterns_ = patterns;
  const std::set<uint64_t> ignored =
      patterns.empty() ? LogFiles(log, kLogBursts) : std::set<uint64_t>();
  const std::vector<bool> is_whole = AreContentsWhole(log);
  ContentDigests digests(log);
  LogWalk walk(log);
  Histories histories;
  const size_t directories = log.list().directories.size();
  for (uint64_t number = 1; number <= log.operations().size(); ++number) {
    const FileOperation& operation = log.operations()[number - 1];
    histories.Add(operation, number);
    RETURN_IF_ERROR(walk.AdvanceTo(number));
    if (!IsCrashPoint(operation.kind) || !is_whole[number - 1]) continue;
    Status status;
    ForEachName(
        walk.now(), directories, [&](const FileName& name, NodeId node) {
          const FileRead file{.directory = name.directory, .path = name.path};
          const TreeNode* const found = walk.now().Find(node);
          if (!status.ok() || found == nullptr ||
              found->kind != NodeKind::kFile || ignored.contains(node) ||
              !versions.IsCheckpoint(file)) {
            return;
          }
          const Result<Digest> digest = digests.Of(*found->content);
          if (!digest.ok()) {
            status = digest.status();
            return;
          }
          versions.versions_[file].try_emplace(
              *digest,
              Version{.operation = number, .begin = histories.BeginOf(node)});
        });
    RETURN_IF_ERROR(status);
  }
  if (!patterns.empty() && versions.versions_.empty()) {
    return InvalidArgument(fmt::format(
        "--checkpoint: expected a pattern of files that the program writes "
        "below {{out}}, found none for {}",
        fmt::join(patterns, ", ")));
  }
  versions.FindFinished(log.operations().size());
  return versions;
}

void CheckpointVersions::FindFinished(uint64_t operations) {
  // Files by name pattern, ordered by the operation of their last contents.
  std::map<std::string, std::map<uint64_t, FileRead>> series;
  for (const auto& [file, contents] : versions_) {
    const auto last = std::ranges::max_element(
        contents, {}, [](const auto& one) { return one.second.operation; });
    series[NamePattern(file.path)][last->second.operation] = file;
    finished_[file] = {.content = last->first, .from = operations};
  }
  for (const auto& [pattern, files] : series) {
    if (files.size() == 1) finished_.erase(files.begin()->second);
    for (auto file = files.begin(); file != files.end(); ++file) {
      const auto next = std::next(file);
      if (next == files.end()) break;
      for (const auto& [content, version] : versions_[next->second]) {
        uint64_t& from = finished_[file->second].from;
        from = std::min(from, std::max(version.begin, file->first));
      }
    }
  }
}

std::vector<RemadeFile> CheckpointVersions::MadeAgain(
    const std::vector<FileRead>& made, const FileContents& contents) const {
  std::vector<RemadeFile> again;
  for (const FileRead& file : made) {
    const auto finished = finished_.find(file);
    const auto content = contents.find(file);
    if (finished != finished_.end() && content != contents.end() &&
        content->second == finished->second.content) {
      again.push_back({.path = file.path, .finished = finished->second.from});
    }
  }
  return again;
}

std::string CheckpointVersions::NewestOfSeries(
    const std::string& path, const FileContents& contents) const {
  const std::string series = NamePattern(path);
  std::string newest;
  uint64_t operation = 0;
  for (const auto& [file, content] : contents) {
    const auto known = versions_.find(file);
    if (known == versions_.end() || NamePattern(file.path) != series) continue;
    const auto version = known->second.find(content);
    if (version == known->second.end()) continue;
    if (version->second.operation <= operation) continue;
    operation = version->second.operation;
    newest = file.path;
  }
  return newest;
}

std::vector<uint64_t> CheckpointVersions::Ends() const {
  std::set<uint64_t> ends;
  for (const auto& [file, versions] : versions_) {
    if (!IsCheckpoint(file)) continue;
    for (const auto& [content, version] : versions)
      ends.insert(version.operation);
  }
  return {ends.begin(), ends.end()};
}

std::optional<CheckpointVersion> CheckpointVersions::VersionOf(
    const std::vector<FileRead>& reads, const FileContents& contents) const {
  std::vector<std::pair<Version, std::string>> found;
  bool is_damaged = false;
  for (const FileRead& read : reads) {
    const auto file = versions_.find(read);
    const auto content = contents.find(read);
    if (file == versions_.end() || content == contents.end()) continue;
    const auto version = file->second.find(content->second);
    if (version == file->second.end()) {
      is_damaged = true;
    } else {
      found.emplace_back(version->second, read.path);
    }
  }
  if (found.empty() && is_damaged) return std::nullopt;
  std::ranges::stable_sort(found, [](const auto& a, const auto& b) {
    return a.first.operation > b.first.operation;
  });
  CheckpointVersion newest;
  if (found.empty()) return newest;
  newest.operation = found.front().first.operation;
  newest.begin = found.front().first.begin;
  for (const auto& [version, path] : found) newest.files.push_back(path);
  const auto contents_of_newest = versions_.find(
      {.directory = kCheckpointDirectory, .path = newest.files.front()});
  if (contents_of_newest->second.size() == 1)
    newest.own_file = newest.files.front();
  return newest;
}

}  // namespace gauntlet
