#include "chaos/sim/disk/sim_disk.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "chaos/sim/disk/path_parts.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

bool LiesWithin(const Inode* directory, const Inode& wanted) {
  while (directory != nullptr && directory != &wanted) {
    directory = directory->parent;
  }
  return directory != nullptr;
}

}  // namespace

SimDisk::SimDisk(const DiskOptions& options)
    : options_(options), root_(std::make_shared<Inode>()) {
  root_->kind = FileKind::kDirectory;
}

// Detaches all entries first: the visible and the durable entries of two
// directories may contain each other, which is a cycle of shared pointers.
SimDisk::~SimDisk() {
  std::vector<std::shared_ptr<Inode>> doomed = {root_};
  for (const NameChange& change : pending_) doomed.push_back(change.inode);
  doomed.insert(doomed.end(), late_.begin(), late_.end());
  while (!doomed.empty()) {
    const std::shared_ptr<Inode> inode = std::move(doomed.back());
    doomed.pop_back();
    for (auto* entries : {&inode->entries, &inode->durable_entries}) {
      for (auto& [name, child] : *entries) doomed.push_back(std::move(child));
      entries->clear();
    }
  }
}

SimDisk::Place SimDisk::PlaceIn(Inode& directory, std::string_view name) {
  const auto entry = directory.entries.find(name);
  const bool found = entry != directory.entries.end();
  return {.directory = &directory,
          .name = name,
          .inode = found ? entry->second.get() : nullptr};
}

Result<SimDisk::Place> SimDisk::Find(std::string_view operation,
                                     std::string_view path) {
  Place here{.inode = root_.get()};
  std::string_view rest = path;
  std::string_view part;
  while (!(part = NextPart(rest)).empty()) {
    if (here.inode == nullptr) {
      return Refuse(Code::kNotFound, operation, path, "no such directory");
    }
    if (here.inode->kind != FileKind::kDirectory) {
      return Refuse(Code::kIoError, operation, path,
                    "a file where a directory is expected");
    }
    if (part == "..") {
      Inode* const parent = here.inode->parent;
      here = Place{.inode = parent != nullptr ? parent : root_.get()};
      continue;
    }
    here = PlaceIn(*here.inode, part);
  }
  return here;
}

Result<Inode*> SimDisk::FindDirectory(std::string_view operation,
                                      std::string_view path) {
  ASSIGN_OR_RETURN(const Place place, Find(operation, path));
  if (place.inode == nullptr) {
    return Refuse(Code::kNotFound, operation, path, "no such directory");
  }
  if (place.inode->kind != FileKind::kDirectory) {
    return Refuse(Code::kIoError, operation, path, "not a directory");
  }
  return place.inode;
}

uint64_t SimDisk::Log(MicroOpKind kind, const Inode& inode,
                      std::string_view path, std::string_view to) {
  if (options_.log != nullptr) {
    options_.log->operations.push_back({.kind = kind,
                                        .time = options_.log->now,
                                        .inode = inode.number,
                                        .path = std::string(path),
                                        .to = std::string(to)});
  }
  return operations_++;
}

// Adds a change of names, as pending; on a file server, as durable.
void SimDisk::Change(NameChange change) {
  if (options_.profile == DurabilityProfile::kShared) {
    MakeDurable(std::move(change));
  } else {
    pending_.push_back(std::move(change));
  }
}

std::shared_ptr<Inode> SimDisk::Create(const Place& place,
                                       std::string_view path, FileKind kind) {
  auto inode = std::make_shared<Inode>();
  inode->kind = kind;
  inode->number = ++inodes_;
  inode->parent = place.directory;
  if (options_.log != nullptr) inode->made_as = path;
  place.directory->entries.emplace(place.name, inode);
  const uint64_t operation =
      Log(kind == FileKind::kFile ? MicroOpKind::kCreate
                                  : MicroOpKind::kMakeDirectory,
          *inode, path);
  Change({.inode = inode,
          .to = place.directory->shared_from_this(),
          .to_name = std::string(place.name),
          .operation = operation});
  return inode;
}

void SimDisk::Unlink(Inode& inode) {
  inode.linked = false;
  used_bytes_ -= inode.data.size();
}

Result<std::shared_ptr<Inode>> SimDisk::Open(std::string_view path,
                                             OpenMode mode) {
  ASSIGN_OR_RETURN(const Place place, Find("open", path));
  const bool creates =
      mode == OpenMode::kCreateExclusive || mode == OpenMode::kCreateTruncate;
  if (place.inode == nullptr) {
    if (!creates) {
      return Refuse(Code::kNotFound, "open", path, "no such file");
    }
    return Create(place, path, FileKind::kFile);
  }
  if (mode == OpenMode::kCreateExclusive) {
    return Refuse(Code::kAlreadyExists, "create", path, "exists");
  }
  if (place.inode->kind == FileKind::kDirectory) {
    return Refuse(Code::kIoError, "open", path, "is a directory");
  }
  if (mode == OpenMode::kCreateTruncate) Empty(*place.inode, path);
  return place.inode->shared_from_this();
}

Result<std::vector<DirectoryEntry>> SimDisk::List(std::string_view path) {
  ASSIGN_OR_RETURN(const Inode* directory, FindDirectory("list", path));
  std::vector<DirectoryEntry> entries;
  entries.reserve(directory->entries.size());
  for (const auto& [name, inode] : directory->entries) {
    entries.push_back({.name = name, .kind = inode->kind});
  }
  return entries;
}

Status SimDisk::MakeDirectory(std::string_view path) {
  ASSIGN_OR_RETURN(const Place place, Find("mkdir", path));
  if (place.inode != nullptr) {
    return Refuse(Code::kAlreadyExists, "mkdir", path, "exists");
  }
  Create(place, path, FileKind::kDirectory);
  return OkStatus();
}

Status SimDisk::Rename(std::string_view from, std::string_view to) {
  ASSIGN_OR_RETURN(const Place source, Find("rename", from));
  ASSIGN_OR_RETURN(const Place target, Find("rename", to));
  if (source.inode == nullptr) {
    return Refuse(Code::kNotFound, "rename", from, "no such file");
  }
  if (source.inode == target.inode) return OkStatus();
  if (source.directory == nullptr ||
      LiesWithin(target.directory, *source.inode)) {
    return Refuse(Code::kIoError, "rename", from,
                  fmt::format("{} lies within it", to));
  }
  if (target.directory == nullptr) {
    return Refuse(Code::kAlreadyExists, "rename", to, "exists");
  }
  const bool replaces = target.inode != nullptr;
  if (replaces) {
    if (!target.inode->entries.empty()) {
      return Refuse(Code::kAlreadyExists, "rename", to,
                    "a directory that is not empty");
    }
    if (source.inode->kind != target.inode->kind) {
      return Refuse(Code::kIoError, "rename", to,
                    "a file and a directory cannot replace each other");
    }
    Unlink(*target.inode);
  }
  const std::shared_ptr<Inode> inode = source.inode->shared_from_this();
  std::string from_name(source.name);
  std::string to_name(target.name);
  target.directory->entries[to_name] = inode;
  source.directory->entries.erase(from_name);
  inode->parent = target.directory;
  const uint64_t operation = Log(MicroOpKind::kRename, *inode, from, to);
  Change({.inode = inode,
          .from = source.directory->shared_from_this(),
          .from_name = std::move(from_name),
          .to = target.directory->shared_from_this(),
          .to_name = std::move(to_name),
          .replaces_file = replaces && inode->kind == FileKind::kFile,
          .operation = operation});
  return OkStatus();
}

Status SimDisk::Remove(std::string_view path, FileKind kind) {
  ASSIGN_OR_RETURN(const Place place, Find("remove", path));
  if (place.inode == nullptr) {
    return Refuse(Code::kNotFound, "remove", path, "no such file");
  }
  if (place.inode->kind != kind || place.directory == nullptr) {
    return Refuse(
        Code::kIoError, "remove", path,
        kind == FileKind::kFile ? "is a directory" : "is not a directory");
  }
  if (!place.inode->entries.empty()) {
    return Refuse(Code::kAlreadyExists, "remove", path, "is not empty");
  }
  Unlink(*place.inode);
  const uint64_t operation =
      Log(kind == FileKind::kFile ? MicroOpKind::kRemoveFile
                                  : MicroOpKind::kRemoveDirectory,
          *place.inode, path);
  Change({.inode = place.inode->shared_from_this(),
          .from = place.directory->shared_from_this(),
          .from_name = std::string(place.name),
          .operation = operation});
  place.directory->entries.erase(place.directory->entries.find(place.name));
  return OkStatus();
}

std::string SimDisk::BlockOf(const Inode& file, uint64_t block) {
  const uint64_t begin = block * kBlockBytes;
  if (begin >= file.data.size()) return "";
  return file.data.substr(begin, kBlockBytes);
}

void SimDisk::Empty(Inode& file, std::string_view path) {
  const uint64_t operation = Log(MicroOpKind::kEmpty, file, path);
  ++file.version;
  for (uint64_t block = 0; block * kBlockBytes < file.data.size(); ++block) {
    const auto [dirty, is_new] = file.dirty.try_emplace(block);
    if (is_new) dirty->second.durable = BlockOf(file, block);
    dirty->second.operation = operation;
  }
  if (file.linked) used_bytes_ -= file.data.size();
  file.data.clear();
  file.smallest_size = 0;
}

Status SimDisk::Write(Inode& file, uint64_t offset,
                      std::span<const std::byte> bytes) {
  if (bytes.empty()) return OkStatus();
  const uint64_t end = offset + bytes.size();
  const uint64_t growth = end > file.data.size() ? end - file.data.size() : 0;
  if (file.linked && growth > 0) {
    if (growth > options_.capacity_bytes -
                     std::min(options_.capacity_bytes, used_bytes_)) {
      return ResourceExhausted(
          fmt::format("disk full: capacity {} bytes", options_.capacity_bytes));
    }
    used_bytes_ += growth;
  }
  for (uint64_t block = offset / kBlockBytes; block * kBlockBytes < end;
       ++block) {
    const auto [dirty, is_new] = file.dirty.try_emplace(block);
    if (is_new) dirty->second.durable = BlockOf(file, block);
    dirty->second.operation = LogPiece(file, block, offset, bytes);
  }
  ++file.version;
  // A hole reads as zeros.
  if (offset > file.data.size()) file.data.resize(offset);
  const auto* const text = reinterpret_cast<const char*>(bytes.data());
  const size_t inside = std::min(bytes.size(), file.data.size() - offset);
  std::memcpy(file.data.data() + offset, text, inside);
  file.data.append(text + inside, bytes.size() - inside);
  return OkStatus();
}

// Logs the part of a write of `bytes` at `offset` that falls into one block.
uint64_t SimDisk::LogPiece(const Inode& file, uint64_t block, uint64_t offset,
                           std::span<const std::byte> bytes) {
  const uint64_t operation = Log(MicroOpKind::kWrite, file, file.made_as);
  if (options_.log == nullptr) return operation;
  const uint64_t begin = std::max(offset, block * kBlockBytes);
  const uint64_t end =
      std::min(offset + bytes.size(), (block + 1) * kBlockBytes);
  MicroOp& logged = options_.log->operations.back();
  logged.offset = begin;
  logged.data.resize(end - begin);
  std::memcpy(logged.data.data(), bytes.data() + (begin - offset), end - begin);
  return operation;
}

size_t SimDisk::Read(const Inode& file, uint64_t offset,
                     std::span<std::byte> bytes) {
  if (offset >= file.data.size() || bytes.empty()) return 0;
  const size_t count = std::min(bytes.size(), file.data.size() - offset);
  std::memcpy(bytes.data(), file.data.data() + offset, count);
  return count;
}

}  // namespace gauntlet
