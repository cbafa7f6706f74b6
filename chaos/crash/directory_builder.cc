#include "chaos/crash/directory_builder.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "engine/real/posix/descriptor.h"
#include "engine/real/posix/folder_entries.h"
#include "engine/real/posix/posix_status.h"
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

namespace gauntlet {
namespace {

namespace fs = std::filesystem;

// Maximum number of saved walks (LogWalk).
constexpr uint64_t kWalks = 64;

// A directory in which the builder creates names.
struct OpenDirectory {
  int descriptor = -1;
  FileName name;  // path is empty for the target itself
};

// Writes the directories of one state.
class TreeWriter {
 public:
  TreeWriter(const DirectoryTree& tree, const BuildOptions& options,
             ContentStore& store)
      : tree_(tree), options_(options), store_(store) {}

  // Writes the contents of watched directory number `i` into the target.
  Status WriteTarget(uint32_t i, const std::string& target) {
    Descriptor root(
        open(target.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!root.valid()) return PosixError(errno, target, "open");
    const int descriptor = root.get();
    targets_.push_back(target);
    roots_.push_back(std::move(root));
    return WriteBelow(
        {.descriptor = descriptor, .name = {.directory = i, .path = ""}},
        WatchedRoot(i));
  }

 private:
  Status WriteBelow(const OpenDirectory& directory, NodeId node) {
    for (const auto& [name, link] : tree_.LinksIn(node)) {
      const std::string& parent = directory.name.path;
      const FileName here = {
          .directory = directory.name.directory,
          .path = parent.empty() ? name : parent + "/" + name};
      if (name.empty() || name == "." || name == ".." ||
          name.find('/') != std::string::npos) {
        return DataLoss(fmt::format("{}: leaves its directory: record again",
                                    PathOf(here)));
      }
      RETURN_IF_ERROR(WriteNode(directory.descriptor, name, here, link.node));
    }
    return OkStatus();
  }

  std::string PathOf(const FileName& here) const {
    return targets_[here.directory] + "/" + here.path;
  }

  Status WriteNode(int directory, const std::string& name, const FileName& here,
                   NodeId number) {
    const TreeNode& node = *tree_.Find(number);
    if (node.kind == NodeKind::kDirectory) {
      if (mkdirat(directory, name.c_str(), 0700) != 0)
        return PosixError(errno, PathOf(here), "make directory");
      const Descriptor made(
          openat(directory, name.c_str(),
                 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (!made.valid()) return PosixError(errno, PathOf(here), "open");
      RETURN_IF_ERROR(
          WriteBelow({.descriptor = made.get(), .name = here}, number));
      return SetMetadata(made.get(), here, node);
    }
    const auto [first, is_first] = first_names_.emplace(number, here);
    if (!is_first) {
      const FileName& other = first->second;
      if (linkat(roots_[other.directory].get(), other.path.c_str(), directory,
                 name.c_str(), 0) != 0) {
        return PosixError(errno, PathOf(here), "link");
      }
      return OkStatus();
    }
    if (node.kind == NodeKind::kSymlink) {
      if (symlinkat(node.target.c_str(), directory, name.c_str()) != 0)
        return PosixError(errno, PathOf(here), "symlink");
      return OkStatus();
    }
    return WriteFile(directory, name, here, node);
  }

  Status WriteFile(int directory, const std::string& name, const FileName& here,
                   const TreeNode& node) {
    if (options_.is_read_only && options_.is_read_only(here)) {
      ASSIGN_OR_RETURN(const bool is_linked,
                       store_.LinkTo(*node.content, node, directory, name));
      if (is_linked) return OkStatus();
    }
    const Descriptor file(
        openat(directory, name.c_str(),
               O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file.valid()) return PosixError(errno, PathOf(here), "create");
    RETURN_IF_ERROR(
        Annotate(store_.WriteTo(*node.content, file.get()), PathOf(here)));
    return SetMetadata(file.get(), here, node);
  }

  Status SetMetadata(int file, const FileName& here,
                     const TreeNode& node) const {
    if (!SetModeAndTimes(file, node))
      return PosixError(errno, PathOf(here), "set mode and times");
    return OkStatus();
  }

  const DirectoryTree& tree_;
  const BuildOptions& options_;
  ContentStore& store_;
  std::vector<std::string> targets_;
  std::vector<Descriptor> roots_;  // of the targets
  std::map<NodeId, FileName> first_names_;
};

Status CheckTargets(const OperationLog& log,
                    const std::vector<std::string>& targets) {
  const size_t wanted = log.list().directories.size();
  if (targets.size() != wanted) {
    return InvalidArgument(
        fmt::format("expected {} target directories, as many as the log has, "
                    "found {}",
                    wanted, targets.size()));
  }
  for (const std::string& target : targets) {
    std::error_code error;
    const bool is_empty = fs::is_empty(target, error);
    if (error || !fs::is_directory(target) || !is_empty) {
      return InvalidArgument(
          fmt::format("{}: expected an empty directory, found {}", target,
                      error ? error.message() : "something in it"));
    }
  }
  return OkStatus();
}

// Removes the contents of a target, even of directories whose modes forbid it.
void Empty(const std::string& target) {
  std::error_code ignored;
  std::error_code error;
  fs::recursive_directory_iterator entry(
      target, fs::directory_options::skip_permission_denied, error);
  for (; !error && entry != fs::end(entry); entry.increment(error)) {
    if (fs::is_directory(entry->symlink_status(ignored))) {
      fs::permissions(entry->path(), fs::perms::owner_all,
                      fs::perm_options::add, ignored);
    }
  }
  for (const auto& child : EntriesOf(target))
    fs::remove_all(child.path(), ignored);
}

}  // namespace

DirectoryBuilder::DirectoryBuilder(const OperationLog& log,
                                   BuildOptions options)
    : log_(log),
      options_(std::move(options)),
      store_(log, options_.cache, options_.cache_bytes),
      walk_(log) {}

// Continues from the nearest saved walk before the position, and saves walks on
// the way.
Result<const LogWalk*> DirectoryBuilder::WalkTo(uint64_t position) {
  const uint64_t stride =
      std::max<uint64_t>(kWalks, log_.operations().size() / kWalks);
  const auto after = walks_.upper_bound(position);
  const bool is_ahead = walk_->position() > position;
  if (after != walks_.begin() &&
      (is_ahead || std::prev(after)->first > walk_->position())) {
    walk_.emplace(std::prev(after)->second);
  } else if (is_ahead) {
    walk_.emplace(log_);
  }
  while (walk_->position() < position) {
    const uint64_t next = (walk_->position() / stride + 1) * stride;
    RETURN_IF_ERROR(walk_->AdvanceTo(std::min(next, position)));
    if (walk_->position() == next) walks_.emplace(next, *walk_);
  }
  return &*walk_;
}

Status DirectoryBuilder::Build(const CrashState& state,
                               const std::vector<std::string>& targets) {
  RETURN_IF_ERROR(CheckTargets(log_, targets));
  ASSIGN_OR_RETURN(
      const LogWalk* const walk,
      WalkTo(std::min<uint64_t>(state.operations, log_.operations().size())));
  ASSIGN_OR_RETURN(const DirectoryTree tree, walk->TreeOf(state));
  TreeWriter writer(tree, options_, store_);
  Status status;
  for (uint32_t i = 0; i < targets.size() && status.ok(); ++i)
    status = writer.WriteTarget(i, targets[i]);
  if (status.ok()) return status;
  for (const std::string& target : targets) Empty(target);
  return Annotate(status, CrashStateId(state));
}

}  // namespace gauntlet
