// Reads checkpoints, and trusts no byte that a digest does not cover.
//
// A read error (kIoError) is retried a few times and then returned: it says
// nothing about the bytes on disk, and is never a reason to reject a
// checkpoint.
#ifndef GAUNTLET_ENGINE_CKPT_IO_CHECKPOINT_READER_H_
#define GAUNTLET_ENGINE_CKPT_IO_CHECKPOINT_READER_H_

#include <cstdint>
#include <string>

#include "engine/ckpt/format/manifest.h"
#include "engine/status.h"
#include "engine/world/world.h"

namespace gauntlet {

// Reads a small file completely, and retries read errors.
Result<std::string> ReadWithRetry(World& world, const std::string& path,
                                  uint64_t limit);

// Reads the manifest of the checkpoint in directory `path`. kDataLoss: it is
// damaged, with details; kNotFound: the directory does not exist;
// kFailedPrecondition: it is of another schema.
Result<Manifest> ReadManifest(World& world, const std::string& path);

// Checks that the directory `path` has the files that the manifest lists, with
// the listed sizes. Reads no file. Returns the codes of ReadManifest.
Status CheckFileSizes(World& world, const std::string& path,
                      const Manifest& manifest);

// Reads everything in directory `path` once, and verifies every byte against
// the manifest, and the tensors against the state digest. Opens all files
// before it reads the first one, so that a concurrent retirement does no harm.
// Returns the codes of ReadManifest. After an error the bytes in `places` are
// undefined.
//
// Files are read one after another, in the order of the manifest, so that fault
// points occur and errors are found in that order.
Result<LoadedCheckpoint> ReadCheckpoint(World& world, const std::string& path,
                                        const TensorPlaces& places = {});

// As ReadCheckpoint, without returning the tensors: the same reads in the same
// order, and the same errors. Whatever the size of a shard, uses memory for at
// most three blocks of a file (kMaxBlock), for the manifest, for names and
// shapes, and for a digest per kDigestBlockBytes: 1/4096 of the tensors.
Status VerifyCheckpoint(World& world, const std::string& path);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_IO_CHECKPOINT_READER_H_
