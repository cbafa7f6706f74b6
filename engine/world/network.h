// Messages between processes: ordered, and delivered whole or not at all.
//
// Addresses are "host:port". Frames arrive whole and in order; a faulty network
// may deliver a frame twice. When a connection breaks, both ends get
// kUnavailable. If the network is partitioned, they do not: their waits end
// only at their deadlines.
//
// The client, which opens the connection, sends the first frame. Accept on the
// server returns the connection once that frame has arrived; until then the
// limits below apply.
#ifndef GAUNTLET_ENGINE_WORLD_NETWORK_H_
#define GAUNTLET_ENGINE_WORLD_NETWORK_H_

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "engine/status.h"
#include "engine/world/clock.h"

namespace gauntlet {

// The bytes of one message.
using Frame = std::string;

// Send refuses a larger frame with kInvalidArgument.
inline constexpr size_t kMaxFrameBytes = size_t{4} << 20;

// Limits of one listener on connections before Accept. A connection without a
// frame is closed after kMaxSilence; if there are more than kMaxSilentCallers,
// the oldest is closed. If kMaxWaitingCallers connections wait with a first
// frame, the next one is closed. A first frame above kMaxFirstFrameBytes closes
// its connection. No second frame is read before Accept.
inline constexpr size_t kMaxSilentCallers = 32;
inline constexpr Duration kMaxSilence = std::chrono::seconds(10);
inline constexpr size_t kMaxWaitingCallers = 32;
inline constexpr size_t kMaxFirstFrameBytes = size_t{1} << 20;

// Random bytes of one connection, chosen by its server and known to both ends.
// Unique to the connection.
inline constexpr size_t kNonceBytes = 32;
using Nonce = std::array<std::byte, kNonceBytes>;

// One connection. Send and Receive may run in different tasks at the same time,
// but each of them in only one task at a time. The destructor closes the
// connection; no call may be in progress then.
class Channel {
 public:
  virtual ~Channel() = default;
  // Queues the frame; blocks only while too many bytes are queued. Errors:
  // kDeadlineExceeded, kUnavailable, and kInvalidArgument for a frame that is
  // too large. Ok does not mean that the frame arrived.
  virtual Status Send(Frame frame, Time deadline) = 0;
  // Returns the next frame. kDeadlineExceeded leaves the connection usable.
  // kUnavailable: the connection is lost, and all frames received were
  // returned.
  virtual Result<Frame> Receive(Time deadline) = 0;
  // Breaks the connection and wakes both ends. Frames already passed to Send
  // are still delivered if the network allows it.
  virtual void Close() = 0;
  virtual const Nonce& nonce() const = 0;
};

// A new connection to this server, and its first frame.
struct Incoming {
  std::unique_ptr<Channel> channel;
  Frame first;
};

// Checks the first frame of a connection before it is queued for Accept.
// Returns nullopt to accept it, or a last frame to reject it with. Called from
// any thread; must not block.
using ConnectionFilter =
    std::function<std::optional<Frame>(const Nonce& nonce, const Frame& first)>;

class Listener {
 public:
  virtual ~Listener() = default;
  // Returns the connection whose first frame arrived earliest.
  // kDeadlineExceeded: none came in time; kUnavailable: the listener is closed.
  virtual Result<Incoming> Accept(Time deadline) = 0;
};

class Network {
 public:
  virtual ~Network() = default;
  // Listens on the address. Connections that `filter` rejects never reach
  // Accept; null: accepts all. kAlreadyExists if the address is taken,
  // kInvalidArgument if it is malformed.
  virtual Result<std::unique_ptr<Listener>> Listen(const std::string& address,
                                                   ConnectionFilter filter) = 0;
  Result<std::unique_ptr<Listener>> Listen(const std::string& address) {
    return Listen(address, nullptr);
  }
  // Tries until a listener accepts or the deadline passes (kDeadlineExceeded).
  virtual Result<std::unique_ptr<Channel>> Connect(const std::string& address,
                                                   Time deadline) = 0;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_WORLD_NETWORK_H_
