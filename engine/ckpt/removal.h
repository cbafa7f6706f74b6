// Takes checkpoints out of a directory: by a rename first, so that none is ever
// seen half deleted and of two that want one only one gets it.
#ifndef GAUNTLET_ENGINE_CKPT_REMOVAL_H_
#define GAUNTLET_ENGINE_CKPT_REMOVAL_H_

#include <string>

#include "engine/status.h"
#include "engine/world/world.h"

namespace gauntlet {

// Renames directory/name to .deleting-name and removes that. kNotFound: it was
// taken before, by somebody else or by a removal that met an error; what that
// one left is removed too.
Status RemoveCheckpoint(World& world, const std::string& directory,
                        const std::string& name);

// Renames directory/name to rejected-name, evidence for people.
Status SetAside(World& world, const std::string& directory,
                const std::string& name);

// That the checkpoint at `path` failed verification. Said as soon as that is
// found: nobody may come to setting it aside.
void EmitRejected(World& world, const std::string& path,
                  const std::string& reason);

// Removes a file, or a directory and what is in it; a missing one is fine.
// Reaches kRetireRemove before each removal.
Status RemoveTree(World& world, const std::string& path, FileKind kind);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_REMOVAL_H_
