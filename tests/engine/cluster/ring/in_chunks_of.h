// The emulated collective with small chunks.
#ifndef GAUNTLET_TESTS_ENGINE_CLUSTER_RING_IN_CHUNKS_OF_H_
#define GAUNTLET_TESTS_ENGINE_CLUSTER_RING_IN_CHUNKS_OF_H_

#include <cstddef>

#include "engine/cluster/ring/emulated_collective.h"

namespace gauntlet {

inline gpu::CollectiveApi InChunksOf(size_t floats) {
  gpu::CollectiveApi api = EmulatedCollective();
  api.chunk_floats = floats;
  return api;
}

}  // namespace gauntlet

#endif  // GAUNTLET_TESTS_ENGINE_CLUSTER_RING_IN_CHUNKS_OF_H_
