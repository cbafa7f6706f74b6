// Parses protobuf messages from a peer's bytes. For .cc files of cluster/ and
// train/ only.
#ifndef GAUNTLET_ENGINE_CLUSTER_LINK_PROTOBUF_EDGE_H_
#define GAUNTLET_ENGINE_CLUSTER_LINK_PROTOBUF_EDGE_H_

#include <string_view>

#include "engine/world/network.h"

namespace gauntlet {

// Returns false if malformed or larger than kMaxFrameBytes.
template <typename Message>
[[nodiscard]] bool ParseMessage(std::string_view bytes, Message& message) {
  return bytes.size() <= kMaxFrameBytes &&
         message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CLUSTER_LINK_PROTOBUF_EDGE_H_
