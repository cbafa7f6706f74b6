// Durability of a SimDisk: syncs, and the state that a power loss leaves.
#include <algorithm>
#include <set>
#include <utility>

#include "chaos/sim/disk/sim_disk.h"

namespace gauntlet {

void SimDisk::Sync(Inode& file) {
  SyncInode(file);
  Log(MicroOpKind::kSync, file, file.made_as);
}

Status SimDisk::SyncDirectory(std::string_view path) {
  ASSIGN_OR_RETURN(Inode* const directory, FindDirectory("sync", path));
  SyncInode(*directory);
  Log(MicroOpKind::kSyncDirectory, *directory, path);
  return OkStatus();
}

void SimDisk::SyncInode(Inode& inode) {
  if (options_.profile != DurabilityProfile::kLyingFsync) {
    SyncNow(inode);
  } else if (options_.late_syncs != UINT64_MAX) {
    late_.push_back(inode.shared_from_this());
    while (late_.size() > options_.late_syncs) {
      SyncNow(*late_.front());
      late_.pop_front();
    }
  }
}

void SimDisk::SyncNow(Inode& inode) {
  if (inode.kind == FileKind::kFile) Flush(inode);
  if (NamesInOrder()) {
    CommitNames();
  } else if (inode.kind == FileKind::kDirectory) {
    CommitNamesOf(inode);
  }
}

void SimDisk::Flush(Inode& file) {
  file.dirty.clear();
  file.durable_size = file.data.size();
  file.smallest_size = file.data.size();
  ++file.version;
}

bool SimDisk::NamesInOrder() const {
  return options_.profile == DurabilityProfile::kExt4;
}

void SimDisk::MakeDurable(NameChange&& change) {
  if (change.from != nullptr) {
    const auto entry = change.from->durable_entries.find(change.from_name);
    if (entry != change.from->durable_entries.end() &&
        entry->second == change.inode) {
      change.from->durable_entries.erase(entry);
    }
  }
  if (change.to != nullptr) {
    change.to->durable_entries.insert_or_assign(std::move(change.to_name),
                                                std::move(change.inode));
  }
}

void SimDisk::CommitNames() {
  for (NameChange& change : pending_) {
    if (change.replaces_file) Flush(*change.inode);
    MakeDurable(std::move(change));
  }
  pending_.clear();
}

// Commits the changes in this directory and, transitively, earlier ones that
// created the names they use.
void SimDisk::CommitNamesOf(const Inode& directory) {
  std::vector<bool> commits(pending_.size());
  std::set<std::pair<const Inode*, std::string_view>> used;
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
      MakeDurable(std::move(pending_[i]));
    } else {
      left.push_back(std::move(pending_[i]));
    }
  }
  pending_ = std::move(left);
}

namespace {

using Directories = std::map<const Inode*, Inode::Entries>;
using Links = std::map<const Inode*, std::pair<const Inode*, std::string>>;

void MapLinks(const Inode& directory, Directories& directories, Links& links) {
  if (!directories.try_emplace(&directory, directory.durable_entries).second) {
    return;
  }
  for (const auto& [name, inode] : directory.durable_entries) {
    links[inode.get()] = {&directory, name};
    if (inode->kind == FileKind::kDirectory) {
      MapLinks(*inode, directories, links);
    }
  }
}

void TakeAway(const Inode* inode, const Inode* directory,
              const std::string& name, Directories& directories) {
  Inode::Entries& entries = directories[directory];
  const auto entry = entries.find(name);
  if (entry != entries.end() && entry->second.get() == inode) {
    entries.erase(entry);
  }
}

}  // namespace

SimDisk::KeptNames SimDisk::NamesWith(const std::vector<bool>& kept) const {
  KeptNames names;
  Links links;
  MapLinks(*root_, names.directories, links);
  // Adds the directories that are not yet reachable from the root.
  for (const NameChange& change : pending_) {
    for (const auto& inode : {change.from, change.to, change.inode}) {
      if (inode != nullptr && inode->kind == FileKind::kDirectory) {
        MapLinks(*inode, names.directories, links);
      }
    }
  }
  for (size_t i = 0; i < pending_.size(); ++i) {
    if (!kept[i]) continue;
    const NameChange& change = pending_[i];
    const Inode* const inode = change.inode.get();
    // An inode has one name, so its present one is removed. If earlier renames
    // were lost, that is an older name than change.from_name.
    const auto link = links.find(inode);
    if (link != links.end()) {
      TakeAway(inode, link->second.first, link->second.second,
               names.directories);
    }
    if (change.from != nullptr) {
      TakeAway(inode, change.from.get(), change.from_name, names.directories);
    }
    if (change.to != nullptr) {
      names.directories[change.to.get()][change.to_name] = change.inode;
      links[inode] = {change.to.get(), change.to_name};
    }
    if (NamesInOrder() && change.replaces_file) names.flushed.insert(inode);
  }
  return names;
}

// Makes the chosen pending changes of names durable.
void SimDisk::KeepNames(const ChoiceSource& choose) {
  std::vector<bool> kept(pending_.size());
  if (NamesInOrder()) {
    std::fill_n(kept.begin(), choose(pending_.size() + 1), true);
  } else {
    for (size_t i = 0; i < kept.size(); ++i) kept[i] = choose(2) != 0;
  }
  const KeptNames names = NamesWith(kept);
  for (const NameChange& change : pending_) {
    if (names.flushed.contains(change.inode.get())) {
      Flush(*change.inode);
    }
  }
  std::vector<std::shared_ptr<Inode>> reachable = {root_};
  for (size_t i = 0; i < reachable.size(); ++i) {
    const std::shared_ptr<Inode> directory = reachable[i];
    const auto entries = names.directories.find(directory.get());
    directory->durable_entries =
        entries == names.directories.end() ? Inode::Entries{} : entries->second;
    for (const auto& [name, inode] : directory->durable_entries) {
      if (inode->kind == FileKind::kDirectory) reachable.push_back(inode);
    }
  }
  pending_.clear();
}

void SimDisk::PowerLoss(const ChoiceSource& choose) {
  options_.log = nullptr;
  late_.clear();
  KeepNames(choose);
  used_bytes_ = 0;
  Restore(*root_, choose);
}

// Makes the durable entries below the directory visible again, after the
// reboot.
void SimDisk::Restore(Inode& directory, const ChoiceSource& choose) {
  directory.linked = true;
  directory.entries = directory.durable_entries;
  for (auto& [name, inode] : directory.entries) {
    inode->parent = &directory;
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

std::vector<SimDisk::Extent> SimDisk::ExtentsAfter(const Inode& file) const {
  const uint64_t now = file.data.size();
  uint64_t low = std::min({file.durable_size, file.smallest_size, now});
  uint64_t high = std::max<uint64_t>(file.durable_size, now);
  std::vector<Extent> extents;
  Blocks blocks = Blocks::kEachItsOwn;
  if (NamesInOrder() && low < file.durable_size) {
    // Truncated since the last sync: the new content is in other blocks.
    extents.push_back({.size = file.durable_size, .blocks = Blocks::kAllOld});
    blocks = Blocks::kAllNew;
    high = now;
  }
  std::set<uint64_t> sizes = {low, now, high};
  if (blocks == Blocks::kEachItsOwn) sizes.insert(file.durable_size);
  for (uint64_t size = (low / kBlockBytes + 1) * kBlockBytes; size < high;
       size += kBlockBytes) {
    sizes.insert(size);
  }
  for (const uint64_t size : sizes) {
    extents.push_back({.size = size, .blocks = blocks});
  }
  return extents;
}

uint64_t SimDisk::OutcomesOf(const Inode& file, const Extent& extent,
                             uint64_t block) const {
  if (extent.blocks != Blocks::kEachItsOwn) return 1;
  // Under kExt4 an appended block survives completely or not at all.
  const bool appended = block * kBlockBytes >= file.durable_size;
  if (appended && NamesInOrder()) return 1;
  return kFirstTorn + 2 * kCuts;
}

uint64_t SimDisk::OnlyOutcome(const Extent& extent) {
  return extent.blocks == Blocks::kAllOld ? kOld : kNew;
}

std::string SimDisk::BlockAfter(const Inode& file, uint64_t block,
                                const Inode::DirtyBlock& dirty,
                                uint64_t outcome) {
  if (outcome == kOld) return dirty.durable;
  std::string written = BlockOf(file, block);
  if (outcome == kNew) return written;
  const uint64_t torn = outcome - kFirstTorn;
  std::string front = torn < kCuts ? std::move(written) : dirty.durable;
  std::string back = torn < kCuts ? dirty.durable : std::move(written);
  front.resize(kBlockBytes);
  back.resize(kBlockBytes);
  const uint64_t cut = (1 + torn % kCuts) * kSectorBytes;
  return front.substr(0, cut) + back.substr(cut);
}

std::string SimDisk::Compose(const Inode& file, uint64_t size,
                             std::span<const uint64_t> outcomes) {
  std::string data = file.data;
  data.resize(size);
  size_t i = 0;
  for (const auto& [block, dirty] : file.dirty) {
    const uint64_t begin = block * kBlockBytes;
    if (begin >= size) break;
    std::string bytes = BlockAfter(file, block, dirty, outcomes[i++]);
    bytes.resize(std::min(kBlockBytes, size - begin));
    data.replace(begin, bytes.size(), bytes);
  }
  return data;
}

void SimDisk::KeepData(Inode& file, const ChoiceSource& choose) {
  if (!file.dirty.empty() || file.durable_size != file.data.size()) {
    const std::vector<Extent> extents = ExtentsAfter(file);
    const Extent& extent =
        extents[extents.size() > 1 ? choose(extents.size()) : 0];
    std::vector<uint64_t> outcomes;
    for (const auto& [block, dirty] : file.dirty) {
      if (block * kBlockBytes >= extent.size) break;
      uint64_t outcome = OnlyOutcome(extent);
      if (OutcomesOf(file, extent, block) > 1) {
        // Draws old, new, torn with a new front, or torn with a new back; then,
        // if torn, the sector.
        outcome = choose(4);
        if (outcome >= kFirstTorn) {
          outcome = kFirstTorn + (outcome - kFirstTorn) * kCuts + choose(kCuts);
        }
      }
      outcomes.push_back(outcome);
    }
    file.data = Compose(file, extent.size, outcomes);
  }
  Flush(file);
}

}  // namespace gauntlet
