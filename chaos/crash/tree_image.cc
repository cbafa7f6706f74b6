#include "chaos/crash/tree_image.h"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

namespace gauntlet {
namespace {

using Visit = std::function<void(const FileName& name, NodeId node)>;

Digest PathDigest(const FileName& name) {
  const Digest path = DigestOf(name.path);
  const std::array<uint64_t, 3> words = {name.directory, path.high, path.low};
  return DigestOf(std::as_bytes(std::span(words)));
}

void VisitBelow(const DirectoryTree& tree, const FileName& directory,
                NodeId node, const Visit& visit) {
  for (const auto& [name, link] : tree.LinksIn(node)) {
    const FileName here = {
        .directory = directory.directory,
        .path = directory.path.empty() ? name : directory.path + "/" + name};
    visit(here, link.node);
    VisitBelow(tree, here, link.node, visit);
  }
}

}  // namespace

void ForEachName(const DirectoryTree& tree, size_t directories,
                 const Visit& visit) {
  for (uint32_t i = 0; i < directories; ++i)
    VisitBelow(tree, {.directory = i, .path = ""}, WatchedRoot(i), visit);
}

Result<Digest> ImageOf(const DirectoryTree& tree, size_t directories,
                       ContentDigests& digests) {
  struct Named {
    Digest path;  // of the first name
    NodeId node = 0;
    int64_t time = 0;
  };
  std::vector<Named> nodes;
  std::map<NodeId, Digest> first_paths;
  Digest image;
  const auto add = [&](std::span<const uint64_t> words) {
    const Digest term = DigestOf(std::as_bytes(words));
    image.high += term.high;
    image.low += term.low;
  };
  ForEachName(tree, directories, [&](const FileName& name, NodeId number) {
    const Digest path = PathDigest(name);
    const auto [first, is_first] = first_paths.emplace(number, path);
    const TreeNode& node = *tree.Find(number);
    add(std::array{uint64_t{1}, path.high, path.low, first->second.high,
                   first->second.low});
    if (is_first) {
      nodes.push_back(
          {.path = path, .node = number, .time = node.modification_time});
    }
  });
  std::stable_sort(
      nodes.begin(), nodes.end(),
      [](const Named& a, const Named& b) { return a.time < b.time; });
  uint64_t rank = 0;
  int64_t last_time = 0;
  for (const Named& named : nodes) {
    const TreeNode& node = *tree.Find(named.node);
    Digest content = DigestOf(node.target);
    if (node.content != nullptr) {
      ASSIGN_OR_RETURN(content, digests.Of(*node.content));
    }
    if (node.kind != NodeKind::kSymlink && named.time != last_time) {
      ++rank;
      last_time = named.time;
    }
    add(std::array{uint64_t{2}, named.path.high, named.path.low,
                   static_cast<uint64_t>(node.kind), uint64_t{node.mode},
                   content.high, content.low,
                   node.kind == NodeKind::kSymlink ? 0 : rank});
  }
  return image;
}

}  // namespace gauntlet
