#include "chaos/crash/directory_tree.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr uint32_t kRootMode = 0755;

bool MakesNode(OperationKind kind) {
  return kind == OperationKind::kCreate || kind == OperationKind::kEnter ||
         kind == OperationKind::kMakeDirectory ||
         kind == OperationKind::kSymlink;
}

bool TakesNameAway(OperationKind kind) {
  return kind == OperationKind::kUnlink || kind == OperationKind::kLeave ||
         kind == OperationKind::kRemoveDirectory;
}

// Returns true if an operation of the kind syncs all files, or changes nothing.
bool IsOfAnyFile(OperationKind kind) {
  return kind == OperationKind::kSyncFileSystem ||
         kind == OperationKind::kOpenToRead || kind == OperationKind::kClose;
}

}  // namespace

DirectoryTree::DirectoryTree(size_t directories) {
  for (size_t i = 0; i < directories; ++i) {
    const NodeId root = WatchedRoot(static_cast<uint32_t>(i));
    nodes_[root] = {.kind = NodeKind::kDirectory, .mode = kRootMode};
    links_[root] = {};
  }
}

TreeNode* DirectoryTree::Find(NodeId node) {
  const auto found = nodes_.find(node);
  return found == nodes_.end() ? nullptr : &found->second;
}

const TreeNode* DirectoryTree::Find(NodeId node) const {
  const auto found = nodes_.find(node);
  return found == nodes_.end() ? nullptr : &found->second;
}

const DirectoryTree::Links& DirectoryTree::LinksIn(NodeId directory) const {
  static const Links none;
  const auto found = links_.find(directory);
  return found == links_.end() ? none : found->second;
}

// Returns the place of a name. For ".", the watched directory itself, the
// place's name is empty.
Result<TreePlace> DirectoryTree::PlaceOf(const FileName& name) const {
  TreePlace place = {.directory = WatchedRoot(name.directory)};
  if (!nodes_.contains(place.directory))
    return DataLoss("a directory that is not watched");
  if (name.path == ".") return place;
  std::string_view rest = name.path;
  for (size_t slash = rest.find('/'); slash != std::string_view::npos;
       slash = rest.find('/')) {
    const auto link =
        LinkAt({place.directory, std::string(rest.substr(0, slash))});
    if (!link || !links_.contains(link->node)) {
      return DataLoss(fmt::format(
          "no directory is at {}",
          name.path.substr(0, name.path.size() - rest.size() + slash)));
    }
    place.directory = link->node;
    rest.remove_prefix(slash + 1);
  }
  place.name = rest;
  return place;
}

std::optional<TreeLink> DirectoryTree::LinkAt(const TreePlace& place) const {
  const Links& links = LinksIn(place.directory);
  const auto found = links.find(place.name);
  if (found == links.end()) return std::nullopt;
  return found->second;
}

Result<ResolvedOperation> DirectoryTree::Resolve(const FileOperation& op,
                                                 size_t index) const {
  ResolvedOperation resolved = {.index = index, .node = op.file};
  if (MakesNode(op.kind)) {
    if (op.file == 0) return DataLoss("a new file without a number");
    resolved.link = index + 1;
    resolved.keeps_directory_time = op.implied;
    if (!op.name.path.empty()) {
      ASSIGN_OR_RETURN(resolved.to, PlaceOf(op.name));
    }
  } else if (op.kind == OperationKind::kLink) {
    resolved.link = index + 1;
    ASSIGN_OR_RETURN(resolved.to, PlaceOf(op.to));
  } else if (TakesNameAway(op.kind) || op.kind == OperationKind::kRename ||
             op.kind == OperationKind::kExchange) {
    ASSIGN_OR_RETURN(resolved.from, PlaceOf(op.name));
    const auto link = LinkAt(*resolved.from);
    if (!link) return DataLoss(op.name.path + " is not there");
    resolved.node = link->node;
    resolved.link = link->number;
    if (!TakesNameAway(op.kind)) {
      ASSIGN_OR_RETURN(resolved.to, PlaceOf(op.to));
    }
    if (op.kind == OperationKind::kExchange) {
      resolved.swapped = LinkAt(*resolved.to);
      if (!resolved.swapped) return DataLoss(op.to.path + " is not there");
    }
  }
  if (resolved.to && !resolved.swapped) {
    const auto replaced = LinkAt(*resolved.to);
    if (replaced && replaced->node != resolved.node)
      resolved.replaced = replaced->node;
  }
  if (MakesNode(op.kind) || IsOfAnyFile(op.kind) ||
      nodes_.contains(resolved.node)) {
    return resolved;
  }
  // No node has the number op.file. This may be a watched directory, whose
  // number in the log can differ from its node WatchedRoot(i). So finds the
  // node by its name.
  ASSIGN_OR_RETURN(const TreePlace place, PlaceOf(op.name));
  const auto link = LinkAt(place);
  if (!place.name.empty() && !link)
    return DataLoss(op.name.path + " is not there");
  resolved.node = place.name.empty() ? place.directory : link->node;
  return resolved;
}

void DirectoryTree::MakeNode(const FileOperation& op,
                             const ResolvedOperation& resolved) {
  if (!MakesNode(op.kind) || nodes_.contains(resolved.node)) return;
  TreeNode node = {.mode = op.mode,
                   .access_time = resolved.time,
                   .modification_time = resolved.time,
                   .target = op.target};
  if (op.kind == OperationKind::kMakeDirectory) {
    node.kind = NodeKind::kDirectory;
    links_[resolved.node] = {};
  } else if (op.kind == OperationKind::kSymlink) {
    node.kind = NodeKind::kSymlink;
  } else {
    FileContent content;
    content.Apply(op);
    node.content = std::make_shared<const FileContent>(std::move(content));
  }
  if (op.modification_time != 0) {
    node.access_time = op.access_time;
    node.modification_time = op.modification_time;
  }
  nodes_.emplace(resolved.node, std::move(node));
}

void DirectoryTree::Put(const TreePlace& place, const TreeLink& link,
                        const ResolvedOperation& by) {
  const auto directory = links_.find(place.directory);
  if (directory == links_.end()) return;
  directory->second[place.name] = link;
  places_[link.number] = place;
  if (!by.keeps_directory_time)
    nodes_[place.directory].modification_time = by.time;
}

// Removes the link from its place, unless the place holds another link now.
void DirectoryTree::Take(const TreeLink& link, const TreePlace& place,
                         const ResolvedOperation& by) {
  const auto directory = links_.find(place.directory);
  if (directory == links_.end()) return;
  const auto entry = directory->second.find(place.name);
  if (entry == directory->second.end() || entry->second.number != link.number) {
    return;
  }
  directory->second.erase(entry);
  places_.erase(link.number);
  if (!by.keeps_directory_time)
    nodes_[place.directory].modification_time = by.time;
}

void DirectoryTree::ChangeNames(const ResolvedOperation& resolved) {
  if (!resolved.from && !resolved.to) return;
  const TreeLink link = {.number = resolved.link, .node = resolved.node};
  const auto take = [&](const TreeLink& taken) {
    const auto place = places_.find(taken.number);
    if (place != places_.end()) Take(taken, TreePlace(place->second), resolved);
  };
  take(link);
  if (resolved.swapped) {
    take(*resolved.swapped);
    Put(*resolved.from, *resolved.swapped, resolved);
  }
  if (!resolved.to) return;
  // The target may exist: its link is removed.
  if (const auto replaced = LinkAt(*resolved.to))
    Take(*replaced, *resolved.to, resolved);
  Put(*resolved.to, link, resolved);
}

void DirectoryTree::ChangeNode(const FileOperation& op,
                               const ResolvedOperation& resolved) {
  TreeNode* const node = Find(resolved.node);
  if (node == nullptr) return;
  if (op.kind == OperationKind::kSetMode) {
    node->mode = op.mode;
  } else if (op.kind == OperationKind::kSetTimes) {
    node->access_time = op.access_time;
    node->modification_time = op.modification_time;
  } else if (ChangesContent(op.kind) && node->content != nullptr) {
    FileContent content = *node->content;
    content.Apply(op);
    node->content = std::make_shared<const FileContent>(std::move(content));
    node->modification_time = resolved.time;
  }
}

void DirectoryTree::CopyNode(NodeId number, const TreeNode& node) {
  nodes_[number] = node;
  if (node.kind == NodeKind::kDirectory) links_[number];
}

bool DirectoryTree::ForgetUnnamed(NodeId node) {
  const bool is_named =
      std::any_of(places_.begin(), places_.end(), [&](const auto& entry) {
        const auto link = LinkAt(entry.second);
        return link && link->node == node;
      });
  if (is_named) return false;
  links_.erase(node);
  return nodes_.erase(node) > 0;
}

}  // namespace gauntlet
