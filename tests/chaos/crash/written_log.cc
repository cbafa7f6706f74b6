#include "tests/chaos/crash/written_log.h"

#include <cstring>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "chaos/crash/tree_image.h"
#include <fmt/format.h>

namespace gauntlet {

WrittenLog::WrittenLog(size_t directories) {
  std::vector<std::string> paths;
  for (size_t i = 0; i < directories; ++i)
    paths.push_back(fmt::format("/watched/{}", i));
  auto created = OperationLog::Create(folder_.path(), paths, {});
  EXPECT_TRUE(created.ok()) << created.status().ToString();
  log_.emplace(std::move(created).value());
  log_->SetStartTime(1'000'000'000'000'000'000);
}

uint64_t WrittenLog::FileAt(const std::string& path) const {
  const auto found = files_.find(path);
  return found == files_.end() ? 0 : found->second;
}

FileOperation WrittenLog::Named(OperationKind kind,
                                const std::string& path) const {
  return {.kind = kind, .file = FileAt(path), .name = {.path = path}};
}

uint64_t WrittenLog::Add(FileOperation op) {
  const uint64_t number = log_->operations().size() + 1;
  if (op.call == 0) op.call = number;
  op.begin = begins_after_ ? 2 * *begins_after_ + 1 : 2 * number;
  op.end = 2 * number;
  op.time = Duration(static_cast<int64_t>(number) * 1'000'000);
  begins_after_.reset();
  const Status status = log_->Append(std::move(op));
  EXPECT_TRUE(status.ok()) << status.ToString();
  return number;
}

uint64_t WrittenLog::MakeNamed(FileOperation op) {
  op.file = log_->AddFile({.device = 1, .inode = files_.size() + 1});
  files_[op.name.path] = op.file;
  return Add(std::move(op));
}

uint64_t WrittenLog::Create(const std::string& path) {
  auto op = Named(OperationKind::kCreate, path);
  op.mode = 0644;
  return MakeNamed(op);
}

uint64_t WrittenLog::MakeDirectory(const std::string& path) {
  auto op = Named(OperationKind::kMakeDirectory, path);
  op.mode = 0755;
  return MakeNamed(op);
}

uint64_t WrittenLog::Symlink(const std::string& path,
                             const std::string& target) {
  auto op = Named(OperationKind::kSymlink, path);
  op.target = target;
  return MakeNamed(op);
}

namespace {

ByteExtent Append(OperationLog& log, std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  auto extent = log.AppendBytes(
      [&](uint64_t at, std::span<std::byte> into) -> Result<size_t> {
        const size_t count = std::min<size_t>(into.size(), text.size() - at);
        std::memcpy(into.data(), bytes.data() + at, count);
        return count;
      },
      0, text.size());
  EXPECT_TRUE(extent.ok()) << extent.status().ToString();
  return *extent;
}

}  // namespace

uint64_t WrittenLog::Write(const std::string& path, std::string_view text,
                           uint64_t offset) {
  auto op = Named(OperationKind::kWrite, path);
  op.offset = offset;
  op.length = text.size();
  op.bytes = Append(*log_, text);
  return Add(op);
}

uint64_t WrittenLog::Truncate(const std::string& path, uint64_t length) {
  auto op = Named(OperationKind::kTruncate, path);
  op.length = length;
  return Add(op);
}

uint64_t WrittenLog::Reshape(OperationKind kind, const std::string& path,
                             uint64_t offset, uint64_t length) {
  auto op = Named(kind, path);
  op.offset = offset;
  op.length = length;
  return Add(op);
}

uint64_t WrittenLog::Rename(const std::string& path, const std::string& to) {
  auto op = Named(OperationKind::kRename, path);
  op.to = {.path = to};
  std::map<std::string, uint64_t> moved;
  for (const auto& [name, file] : files_) {
    const bool is_below = name.starts_with(path + "/");
    if (name == path || is_below) {
      moved[to + name.substr(path.size())] = file;
    } else if (name != to) {
      moved.emplace(name, file);
    }
  }
  files_ = std::move(moved);
  return Add(op);
}

uint64_t WrittenLog::Exchange(const std::string& path, const std::string& to) {
  auto op = Named(OperationKind::kExchange, path);
  op.to = {.path = to};
  std::swap(files_[path], files_[to]);
  return Add(op);
}

uint64_t WrittenLog::Link(const std::string& path, const std::string& to) {
  auto op = Named(OperationKind::kLink, path);
  op.to = {.path = to};
  files_[to] = op.file;
  return Add(op);
}

uint64_t WrittenLog::Unlink(const std::string& path) {
  const auto op = Named(OperationKind::kUnlink, path);
  files_.erase(path);
  return Add(op);
}

uint64_t WrittenLog::RemoveDirectory(const std::string& path) {
  const auto op = Named(OperationKind::kRemoveDirectory, path);
  files_.erase(path);
  return Add(op);
}

uint64_t WrittenLog::Leave(const std::string& path) {
  return Add(Named(OperationKind::kLeave, path));
}

uint64_t WrittenLog::Enter(const std::string& path, std::string_view text) {
  auto op = Named(OperationKind::kEnter, path);
  op.mode = 0644;
  op.length = text.size();
  op.bytes = Append(*log_, text);
  return MakeNamed(op);
}

uint64_t WrittenLog::SetMode(const std::string& path, uint32_t mode) {
  auto op = Named(OperationKind::kSetMode, path);
  op.mode = mode;
  return Add(op);
}

uint64_t WrittenLog::SetTimes(const std::string& path,
                              int64_t modification_time) {
  auto op = Named(OperationKind::kSetTimes, path);
  op.modification_time = modification_time;
  return Add(op);
}

uint64_t WrittenLog::SyncAs(OperationKind kind, const std::string& path) {
  return Add(Named(kind, path));
}

uint64_t WrittenLog::Sync(const std::string& path) {
  return SyncAs(OperationKind::kSyncFile, path);
}

uint64_t WrittenLog::SyncDirectory(const std::string& path) {
  return SyncAs(OperationKind::kSyncDirectory, path);
}

uint64_t WrittenLog::SyncAll() {
  return Add({.kind = OperationKind::kSyncFileSystem});
}

uint64_t WrittenLog::Close(const std::string& path) {
  return SyncAs(OperationKind::kClose, path);
}

Result<DirectoryTree> WrittenLog::TreeOf(const std::string& id) {
  ASSIGN_OR_RETURN(const CrashState state, ParseCrashStateId(id));
  LogWalk walk(*log_);
  RETURN_IF_ERROR(walk.AdvanceTo(state.operations));
  return walk.TreeOf(state);
}

Status WrittenLog::StatusOf(const std::string& id) {
  return TreeOf(id).status();
}

std::string WrittenLog::TextOf(const std::string& id) {
  const auto tree = TreeOf(id);
  if (!tree.ok()) return tree.status().ToString();
  return TextOf(*tree);
}

std::string WrittenLog::ContentOf(const FileContent& content) const {
  std::string text;
  for (const ContentPiece& piece : content.pieces()) {
    std::string bytes(piece.length, '\0');
    if (!piece.is_zeros()) {
      const auto status = log_->ReadPart(
          piece.source, std::as_writable_bytes(std::span(bytes)));
      EXPECT_TRUE(status.ok()) << status.ToString();
    }
    text += bytes;
  }
  return text;
}

std::string WrittenLog::TextOf(const DirectoryTree& tree) const {
  std::string text;
  ForEachName(tree, log_->list().directories.size(),
              [&](const FileName& name, NodeId number) {
                const TreeNode& node = *tree.Find(number);
                text += name.path;
                if (node.kind == NodeKind::kDirectory) text += "/";
                if (node.kind == NodeKind::kSymlink)
                  text += " -> " + node.target;
                if (node.kind == NodeKind::kFile)
                  text += "=" + ContentOf(*node.content);
                text += "\n";
              });
  return text;
}

std::set<std::string> WrittenLog::PowerLosses(DurabilityProfile profile,
                                              uint64_t from, uint64_t to) {
  CrashStateList list(*log_, {.kinds = {CrashStateKind::kPowerLoss},
                              .profiles = {profile},
                              .first_point = from,
                              .last_point = to,
                              .bounds = {.newest_names = 20,
                                         .contents_up_to = 5000,
                                         .newest_files = 20,
                                         .combinations_up_to = 5000}});
  std::set<std::string> texts;
  while (true) {
    const auto state = list.Next();
    EXPECT_TRUE(state.ok()) << state.status().ToString();
    if (!state.ok() || !*state) return texts;
    // Builds the state from its id, as the id must describe the whole state.
    texts.insert(TextOf(CrashStateId(**state)));
  }
}

std::string Sectors(size_t count, char first) {
  std::string text(count * kCrashSectorBytes, first);
  for (size_t i = 0; i < text.size(); ++i) {
    text[i] = static_cast<char>(first +
                                static_cast<char>(i / kCrashSectorBytes % 26));
  }
  return text;
}

}  // namespace gauntlet
