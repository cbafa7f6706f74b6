// The control messages of link.proto as plain structs, and their bytes.
//
// Decode accepts any bytes, and returns kDataLoss with a text of one line if
// they are not a message of this protocol. link.proto describes each field.
#ifndef GAUNTLET_ENGINE_CLUSTER_LINK_CONTROL_MESSAGES_H_
#define GAUNTLET_ENGINE_CLUSTER_LINK_CONTROL_MESSAGES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/status.h"
#include "engine/world/network.h"

namespace gauntlet {

inline constexpr uint32_t kProtocolVersion = 5;

// Kind of connection that a hello opens.
enum class ChannelRole : uint8_t { kControl = 1, kRing = 2, kDevice = 3 };

struct Challenge {
  uint32_t version = kProtocolVersion;
  Nonce nonce{};
};

struct Hello {
  ChannelRole role = ChannelRole::kControl;
  uint32_t rank = 0;
  uint64_t incarnation = 0;
  uint64_t generation = 0;
  std::string host;
  std::string address;
  std::string payload;
  std::string proof;
  std::string nonce;
};

struct Accepted {
  std::string proof;
};

struct Welcome {
  uint64_t generation = 0;
  std::vector<std::string> addresses;
  std::string decision;
  std::string proof;
};

struct Refusal {
  Code code = Code::kUnavailable;  // never kOk
  std::string message;             // one line, see Shortened
  std::string proof;
};

struct Beat {
  uint32_t rank = 0;
  uint64_t generation = 0;
};

struct Bye {
  uint32_t rank = 0;
  uint64_t generation = 0;
};

struct LaneOffer {
  uint64_t process = 0;
  uint32_t descriptor = 0;
};

struct LaneTaken {};

using ControlMessage = std::variant<Challenge, Hello, Accepted, Welcome,
                                    Refusal, Beat, Bye, LaneOffer, LaneTaken>;

Frame EncodeControl(const ControlMessage& message);
Result<ControlMessage> DecodeControl(const Frame& frame);

// Returns a peer's text for display. Very long text is cut, between two
// characters.
std::string Shortened(std::string_view text);

// Returns the frame's message if it is a T. kDataLoss: it is not; the text
// names the message's actual kind.
template <typename T>
Result<T> DecodeControlAs(const Frame& frame);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CLUSTER_LINK_CONTROL_MESSAGES_H_
