// The IDX format of the MNIST files (http://yann.lecun.com/exdb/mnist/, "file
// formats"): a big-endian magic number 0x0000TTDD (type 0x08 = unsigned byte,
// DD dimensions), DD big-endian 32-bit sizes, then the bytes, last dimension
// fastest.
#ifndef GAUNTLET_ENGINE_DATA_IDX_H_
#define GAUNTLET_ENGINE_DATA_IDX_H_

#include <string>

#include "engine/data/raw_samples.h"
#include "engine/status.h"
#include "engine/world/storage.h"

namespace gauntlet {

// Reads <directory>/{train,t10k}-{images-idx3,labels-idx1}-ubyte; if such a
// file is missing, the one with the suffix .gz. kInvalidArgument: a file is
// missing or malformed; the message has its name, the offset, what was expected
// and what was found.
Result<RawSamples> ReadIdx(Storage& storage, const std::string& directory,
                           DataPart split);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_DATA_IDX_H_
