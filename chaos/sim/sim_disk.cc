#include "chaos/sim/sim_disk.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include <fmt/format.h>

namespace gauntlet {
namespace {

Status Refuse(Code code, std::string_view operation, std::string_view path,
              std::string_view why) {
  return Status(code, fmt::format("{} {}: {}", operation, path, why));
}

// The parts between slashes, without empty ones and ".".
std::vector<std::string_view> Parts(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const size_t slash = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, slash);
    if (!part.empty() && part != ".") parts.push_back(part);
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return parts;
}

bool Contains(const Inode& directory, const Inode& wanted) {
  if (&directory == &wanted) return true;
  return std::any_of(
      directory.entries.begin(), directory.entries.end(),
      [&](const auto& entry) { return Contains(*entry.second, wanted); });
}

}  // namespace

SimDisk::SimDisk(const DiskOptions& options)
    : options_(options), root_(std::make_shared<Inode>()) {
  root_->kind = FileKind::kDirectory;
}

// What readers see and what is durable may contain one another crosswise.
SimDisk::~SimDisk() {
  std::vector<std::shared_ptr<Inode>> doomed = {root_};
  for (const NameChange& change : pending_) doomed.push_back(change.inode);
  while (!doomed.empty()) {
    const std::shared_ptr<Inode> inode = std::move(doomed.back());
    doomed.pop_back();
    for (auto* entries : {&inode->entries, &inode->durable_entries}) {
      for (auto& [name, child] : *entries) doomed.push_back(std::move(child));
      entries->clear();
    }
  }
}

Result<SimDisk::Place> SimDisk::Find(std::string_view operation,
                                     std::string_view path) const {
  std::vector<std::shared_ptr<Inode>> above;  // directories down to `here`
  Place here{.directory = nullptr, .name = "", .inode = root_};
  for (const std::string_view part : Parts(path)) {
    if (here.inode == nullptr) {
      return Refuse(Code::kNotFound, operation, path, "no such directory");
    }
    if (here.inode->kind != FileKind::kDirectory) {
      return Refuse(Code::kIoError, operation, path,
                    "a file where a directory is expected");
    }
    if (part == "..") {
      if (above.empty()) continue;
      here = Place{.directory = nullptr, .name = "", .inode = above.back()};
      above.pop_back();
      continue;
    }
    above.push_back(here.inode);
    here.directory = std::move(here.inode);
    here.name = part;
    const auto entry = here.directory->entries.find(part);
    here.inode =
        entry == here.directory->entries.end() ? nullptr : entry->second;
  }
  return here;
}

Result<std::shared_ptr<Inode>> SimDisk::FindDirectory(
    std::string_view operation, std::string_view path) const {
  ASSIGN_OR_RETURN(Place place, Find(operation, path));
  if (place.inode == nullptr) {
    return Refuse(Code::kNotFound, operation, path, "no such directory");
  }
  if (place.inode->kind != FileKind::kDirectory) {
    return Refuse(Code::kIoError, operation, path, "not a directory");
  }
  return place.inode;
}

std::shared_ptr<Inode> SimDisk::Create(const Place& place, FileKind kind) {
  auto inode = std::make_shared<Inode>();
  inode->kind = kind;
  place.directory->entries[place.name] = inode;
  pending_.push_back(
      {.inode = inode, .to = place.directory, .to_name = place.name});
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
    return Create(place, FileKind::kFile);
  }
  if (mode == OpenMode::kCreateExclusive) {
    return Refuse(Code::kAlreadyExists, "create", path, "exists");
  }
  if (place.inode->kind == FileKind::kDirectory) {
    return Refuse(Code::kIoError, "open", path, "is a directory");
  }
  if (mode == OpenMode::kCreateTruncate) Empty(*place.inode);
  return place.inode;
}

Result<std::vector<DirectoryEntry>> SimDisk::List(std::string_view path) {
  ASSIGN_OR_RETURN(const auto directory, FindDirectory("list", path));
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
  Create(place, FileKind::kDirectory);
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
      Contains(*source.inode, *target.directory)) {
    return Refuse(Code::kIoError, "rename", from,
                  fmt::format("{} lies within it", to));
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
  const std::shared_ptr<Inode> inode = source.inode;
  target.directory->entries[target.name] = inode;
  source.directory->entries.erase(source.name);
  pending_.push_back(
      {.inode = inode,
       .from = source.directory,
       .from_name = source.name,
       .to = target.directory,
       .to_name = target.name,
       .replaces_file = replaces && inode->kind == FileKind::kFile});
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
  pending_.push_back(
      {.inode = place.inode, .from = place.directory, .from_name = place.name});
  place.directory->entries.erase(place.name);
  return OkStatus();
}

Status SimDisk::SyncDirectory(std::string_view path) {
  ASSIGN_OR_RETURN(const auto directory, FindDirectory("sync", path));
  CommitNames(*directory);
  return OkStatus();
}

std::string SimDisk::BlockOf(const Inode& file, uint64_t block) {
  const uint64_t begin = block * kBlockBytes;
  if (begin >= file.data.size()) return "";
  return file.data.substr(begin, kBlockBytes);
}

void SimDisk::Empty(Inode& file) {
  for (uint64_t block = 0; block * kBlockBytes < file.data.size(); ++block) {
    const auto [dirty, is_new] = file.dirty.try_emplace(block);
    if (is_new) dirty->second.durable = BlockOf(file, block);
  }
  if (file.linked) used_bytes_ -= file.data.size();
  file.data.clear();
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
          fmt::format("disk full: {} bytes more than {} of {} in use", growth,
                      used_bytes_, options_.capacity_bytes));
    }
    used_bytes_ += growth;
  }
  for (uint64_t block = offset / kBlockBytes; block * kBlockBytes < end;
       ++block) {
    const auto [dirty, is_new] = file.dirty.try_emplace(block);
    if (is_new) dirty->second.durable = BlockOf(file, block);
    dirty->second.lost = false;
  }
  if (growth > 0) file.data.resize(end);
  std::memcpy(file.data.data() + offset, bytes.data(), bytes.size());
  return OkStatus();
}

size_t SimDisk::Read(const Inode& file, uint64_t offset,
                     std::span<std::byte> bytes) {
  if (offset >= file.data.size() || bytes.empty()) return 0;
  const size_t count = std::min(bytes.size(), file.data.size() - offset);
  std::memcpy(bytes.data(), file.data.data() + offset, count);
  return count;
}

void SimDisk::Flush(Inode& file) {
  std::erase_if(file.dirty, [](const auto& d) { return !d.second.lost; });
  file.durable_size = file.data.size();
}

void SimDisk::Sync(Inode& file) {
  Flush(file);
  if (options_.profile == DurabilityProfile::kExt4) CommitNames(*root_);
}

Status SimDisk::LoseUnsynced(std::string_view path) {
  ASSIGN_OR_RETURN(const Place place, Find("lose", path));
  if (place.inode == nullptr || place.inode->kind != FileKind::kFile) {
    return Refuse(Code::kNotFound, "lose", path, "no such file");
  }
  for (auto& [block, dirty] : place.inode->dirty) dirty.lost = true;
  return OkStatus();
}

void SimDisk::MakeDurable(const NameChange& change) {
  if (change.from != nullptr) {
    const auto entry = change.from->durable_entries.find(change.from_name);
    if (entry != change.from->durable_entries.end() &&
        entry->second == change.inode) {
      change.from->durable_entries.erase(entry);
    }
  }
  if (change.to != nullptr) {
    change.to->durable_entries[change.to_name] = change.inode;
  }
}

void SimDisk::CommitNames(const Inode& directory) {
  if (options_.profile == DurabilityProfile::kExt4) {
    for (const NameChange& change : pending_) {
      MakeDurable(change);
      if (change.replaces_file) Flush(*change.inode);
    }
    pending_.clear();
    return;
  }
  // The changes in this directory and, going back, those that made the names
  // they use.
  std::set<std::pair<const Inode*, std::string_view>> used;
  std::vector<bool> commits(pending_.size(), false);
  for (size_t i = pending_.size(); i-- > 0;) {
    const NameChange& change = pending_[i];
    const std::pair from(change.from.get(), std::string_view(change.from_name));
    const std::pair to(change.to.get(), std::string_view(change.to_name));
    commits[i] = from.first == &directory || to.first == &directory ||
                 (from.first != nullptr && used.contains(from)) ||
                 (to.first != nullptr && used.contains(to));
    if (!commits[i]) continue;
    used.insert(from);
    used.insert(to);
  }
  std::vector<NameChange> left;
  for (size_t i = 0; i < pending_.size(); ++i) {
    if (commits[i]) {
      MakeDurable(pending_[i]);
    } else {
      left.push_back(std::move(pending_[i]));
    }
  }
  pending_ = std::move(left);
}

void SimDisk::MapLinks(Inode& directory, Links& links) {
  for (const auto& [name, inode] : directory.durable_entries) {
    links[inode.get()] = {&directory, name};
    if (inode->kind == FileKind::kDirectory) MapLinks(*inode, links);
  }
}

// Lets the chosen pending changes of names reach the disk.
void SimDisk::KeepNames(const Choose& choose) {
  const bool in_order = options_.profile == DurabilityProfile::kExt4;
  if (in_order) {
    pending_.resize(choose(pending_.size() + 1));
    CommitNames(*root_);
    return;
  }
  Links links;
  MapLinks(*root_, links);
  for (const NameChange& change : pending_) {
    if (choose(2) == 0) continue;
    // An inode has one name. Where an earlier rename of it did not survive,
    // its name is still an older one.
    const auto link = links.find(change.inode.get());
    if (link != links.end()) {
      auto& [directory, name] = link->second;
      const auto entry = directory->durable_entries.find(name);
      if (entry != directory->durable_entries.end() &&
          entry->second == change.inode) {
        directory->durable_entries.erase(entry);
      }
    }
    MakeDurable(change);
    if (change.to != nullptr) {
      links[change.inode.get()] = {change.to.get(), change.to_name};
    }
  }
  pending_.clear();
}

void SimDisk::PowerLoss(const Choose& choose) {
  KeepNames(choose);
  used_bytes_ = 0;
  Restore(*root_, choose);
}

// What readers find below the directory once the machine is up again.
void SimDisk::Restore(Inode& directory, const Choose& choose) {
  directory.linked = true;
  directory.entries = directory.durable_entries;
  for (auto& [name, inode] : directory.entries) {
    if (inode->kind == FileKind::kDirectory) {
      Restore(*inode, choose);
      continue;
    }
    KeepData(*inode, choose);
    inode->linked = true;
    inode->lock_holders.clear();
    used_bytes_ += inode->data.size();
  }
}

uint64_t SimDisk::KeepSize(const Inode& file, const Choose& choose) const {
  const uint64_t low = std::min<uint64_t>(file.durable_size, file.data.size());
  const uint64_t high = std::max<uint64_t>(file.durable_size, file.data.size());
  if (low == high) return low;
  // low, the multiples of the block between, high.
  const uint64_t first = low / kBlockBytes + 1;
  const uint64_t last = (high - 1) / kBlockBytes;
  const uint64_t between = last >= first ? last - first + 1 : 0;
  const uint64_t pick = choose(between + 2);
  if (pick == 0) return low;
  return pick > between ? high : (first + pick - 1) * kBlockBytes;
}

std::string SimDisk::KeepBlock(const Inode& file, uint64_t block,
                               const Inode::DirtyBlock& dirty,
                               const Choose& choose) const {
  if (dirty.lost) return dirty.durable;
  const std::string written = BlockOf(file, block);
  constexpr uint64_t kSectors = kBlockBytes / kSectorBytes;
  // Ext4 brings the appended part of a file whole or not at all.
  const bool appended = block * kBlockBytes >= file.durable_size;
  if (appended && options_.profile == DurabilityProfile::kExt4) return written;
  enum : uint64_t { kOld, kNew, kTornFront, kTornBack, kOutcomes };
  const uint64_t outcome = choose(kOutcomes);
  if (outcome == kOld) return dirty.durable;
  if (outcome == kNew) return written;
  std::string front = outcome == kTornFront ? written : dirty.durable;
  std::string back = outcome == kTornFront ? dirty.durable : written;
  front.resize(kBlockBytes);
  back.resize(kBlockBytes);
  const uint64_t cut = (1 + choose(kSectors - 1)) * kSectorBytes;
  return front.substr(0, cut) + back.substr(cut);
}

void SimDisk::KeepData(Inode& file, const Choose& choose) {
  if (!file.dirty.empty() || file.durable_size != file.data.size()) {
    const uint64_t size = KeepSize(file, choose);
    std::string kept = file.data;
    kept.resize(size);
    for (const auto& [block, dirty] : file.dirty) {
      const uint64_t begin = block * kBlockBytes;
      if (begin >= size) continue;
      std::string bytes = KeepBlock(file, block, dirty, choose);
      bytes.resize(std::min(kBlockBytes, size - begin));
      kept.replace(begin, bytes.size(), bytes);
    }
    file.data = std::move(kept);
  }
  file.dirty.clear();
  file.durable_size = file.data.size();
}

}  // namespace gauntlet
