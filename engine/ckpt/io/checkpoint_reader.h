// Reads checkpoints. Trusts only bytes that a digest covers.
//
// A read error (kIoError) is retried a few times and then returned. It does not
// show that the bytes on disk are wrong, so a checkpoint is never rejected
// because of it.
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

// Reads the manifest of the checkpoint in directory `path`. kDataLoss: the
// manifest is missing or damaged; the message has the details. kNotFound: the
// directory does not exist. kFailedPrecondition: the manifest is of another
// schema.
Result<Manifest> ReadManifest(World& world, const std::string& path);

// Checks that the directory `path` has the files that the manifest lists, with
// the listed sizes. Reads no file. Returns the same error codes as
// ReadManifest.
Status CheckFileSizes(World& world, const std::string& path,
                      const Manifest& manifest);

// Reads everything in directory `path` once. Verifies every byte against the
// manifest, and the tensors against the state digest. Opens all files before it
// reads the first one, so that the read succeeds even if the checkpoint is
// removed meanwhile. Returns the same error codes as ReadManifest. After an
// error the bytes in `places` are undefined.
//
// Files are read one after another, in the order of the manifest. Fault points
// and errors occur in that order, too.
Result<LoadedCheckpoint> ReadCheckpoint(World& world, const std::string& path,
                                        const TensorPlaces& places = {});

// As ReadCheckpoint, but does not return the tensors. Makes the same reads in
// the same order, and returns the same errors. Uses memory for at most three
// blocks of a file (kMaxBlock), whatever the size of a shard; for the manifest,
// names and shapes; and for one digest per kDigestBlockBytes. The digests take
// 1/4096 of the bytes of the tensors.
Status VerifyCheckpoint(World& world, const std::string& path);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CKPT_IO_CHECKPOINT_READER_H_
