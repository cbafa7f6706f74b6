// A channel that returns each frame once, even if the network repeats frames.
//
// Each frame carries its number, counted from 0 in each direction of the
// connection (`number` of link.proto's Frame, after the message). A copy of an
// earlier frame is dropped. A frame whose number is missing, or is not the next
// one, ends the connection: kUnavailable.
#ifndef GAUNTLET_ENGINE_CLUSTER_LINK_NUMBERED_CHANNEL_H_
#define GAUNTLET_ENGINE_CLUSTER_LINK_NUMBERED_CHANNEL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "engine/world/network.h"
#include "engine/world/tasks.h"

namespace gauntlet {

inline constexpr size_t kFrameNumberBytes = 9;

void AppendFrameNumber(uint64_t number, Frame& frame);
// Removes the number from the frame. Returns nullopt if the frame has none.
std::optional<uint64_t> TakeFrameNumber(Frame& frame);

// End of a connection. At the server's end, Accept has already received frame
// 0, so the channel expects frame 1 next.
enum class LinkEnd : uint8_t { kClient, kServer };

// Returns a channel that numbers all frames of the new connection `base`.
// Unlike other channels, it allows Send from several tasks at once. `tasks`
// must outlive the result.
std::unique_ptr<Channel> NumberFrames(Tasks& tasks, LinkEnd end,
                                      std::unique_ptr<Channel> base);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CLUSTER_LINK_NUMBERED_CHANNEL_H_
