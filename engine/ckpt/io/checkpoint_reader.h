// Reads checkpoints and believes nothing that a digest does not vouch for.
//
// A read error (kIoError) is tried again a few times and then returned: it says
// nothing about the bytes and is never a reason to reject a checkpoint.
#ifndef GAUNTLET_ENGINE_CKPT_IO_CHECKPOINT_READER_H_
#define GAUNTLET_ENGINE_CKPT_IO_CHECKPOINT_READER_H_

#include <cstdint>
#include <string>

#include "engine/ckpt/format/manifest.h"
#include "engine/status.h"
#include "engine/world/world.h"

namespace gauntlet {

// A whole small file, with read errors tried again.
Result<std::string> ReadWithRetry(World& world, const std::string& path,
                                  uint64_t limit);

// The manifest of the checkpoint in directory `path`. kDataLoss says what is
// wrong with it, kNotFound: there is no such directory, kFailedPrecondition: it
// is of another schema.
Result<Manifest> ReadManifest(World& world, const std::string& path);

// Everything in directory `path`, every byte verified against the manifest, and
// the tensors against the state digest. All files are opened before the first
// is read, so that a retirement meanwhile does no harm. Codes like
// ReadManifest.
Result<LoadedCheckpoint> ReadCheckpoint(World& world, const std::string& path);

// The same, for who needs no tensors.
Status VerifyCheckpoint(World& world, const std::string& path);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_IO_CHECKPOINT_READER_H_
