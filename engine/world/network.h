// Messages between processes: ordered, whole, or lost with the connection.
//
// Addresses are "host:port". Frames arrive whole, in order and at most once;
// when a connection breaks, both ends learn of it (kUnavailable) unless the
// network itself is cut, which only deadlines show.
//
// The client of a connection, which connects, sends the first frame. A
// connection without one never reaches the server's Accept: the network holds
// it back, with the bounds below.
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

// Limits of one listener before Accept. Beyond kMaxSilentCallers, or
// kMaxSilence, the oldest silent connection is closed; beyond
// kMaxWaitingCallers the newest. A first frame above kMaxFirstFrameBytes closes
// the connection. No second frame is read before Accept.
inline constexpr size_t kMaxSilentCallers = 32;
inline constexpr Duration kMaxSilence = std::chrono::seconds(10);
inline constexpr size_t kMaxWaitingCallers = 32;
inline constexpr size_t kMaxFirstFrameBytes = size_t{1} << 20;

// Random bytes of one connection, chosen by its server and known to both ends.
// No two connections have the same.
inline constexpr size_t kNonceBytes = 32;
using Nonce = std::array<std::byte, kNonceBytes>;

// One connection. Send and Receive may run in different tasks at once, each in
// one task at a time. The destructor closes; neither may be running then.
class Channel {
 public:
  virtual ~Channel() = default;
  // Hands the frame over; blocks only while too much is under way already.
  // kDeadlineExceeded, kUnavailable or kInvalidArgument (too large). Ok does
  // not mean that it arrived.
  virtual Status Send(Frame frame, Time deadline) = 0;
  // The next frame. kDeadlineExceeded leaves the connection usable;
  // kUnavailable: it is lost, and all frames that came were handed out.
  virtual Result<Frame> Receive(Time deadline) = 0;
  // Breaks the connection; wakes both ends. Frames already handed to Send are
  // still delivered where the network allows.
  virtual void Close() = 0;
  virtual const Nonce& nonce() const = 0;
};

// A connection to this server, and its first frame.
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
  // The connection whose first frame came first. kDeadlineExceeded, or
  // kUnavailable once closed.
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
  // Tries until somebody listens there or the deadline comes
  // (kDeadlineExceeded).
  virtual Result<std::unique_ptr<Channel>> Connect(const std::string& address,
                                                   Time deadline) = 0;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_WORLD_NETWORK_H_
