// Reading a protobuf message from bytes of a peer. For .cc files only.
#ifndef GAUNTLET_ENGINE_CLUSTER_PARSE_MESSAGE_H_
#define GAUNTLET_ENGINE_CLUSTER_PARSE_MESSAGE_H_

#include <string_view>

#include "engine/world/network.h"

namespace gauntlet {

// False if the bytes are no such message, or more than a frame can hold.
template <typename Message>
[[nodiscard]] bool ParseMessage(std::string_view bytes, Message& message) {
  return bytes.size() <= kMaxFrameBytes &&
         message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CLUSTER_PARSE_MESSAGE_H_
