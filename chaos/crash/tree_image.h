// Digest of a whole tree: equal for directories that no program can
// distinguish.
#ifndef GAUNTLET_CHAOS_CRASH_TREE_IMAGE_H_
#define GAUNTLET_CHAOS_CRASH_TREE_IMAGE_H_

#include <functional>
#include <string>

#include "chaos/crash/content_digests.h"
#include "chaos/crash/directory_tree.h"

namespace gauntlet {

// Covers names, types, modes, contents, link targets, and which names belong to
// one file. Covers the order of the modification times of files and
// directories, because programs may resume from the newest file. Does not cover
// the times themselves, or the times of the watched directories. kDataLoss: the
// log's bytes are truncated or changed.
Result<Digest> ImageOf(const DirectoryTree& tree, size_t directories,
                       ContentDigests& digests);

// Calls `visit` for each name below the watched directories, parents before
// children, in the order of names.
void ForEachName(
    const DirectoryTree& tree, size_t directories,
    const std::function<void(const FileName& name, NodeId node)>& visit);

}  // namespace gauntlet

#endif  // GAUNTLET_CHAOS_CRASH_TREE_IMAGE_H_
