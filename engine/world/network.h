// Messages between processes: ordered, whole, or lost with the connection.
//
// Addresses are "host:port". Frames arrive whole, in order and at most once;
// when a connection breaks, both ends learn of it (kUnavailable) unless the
// network itself is cut, which only deadlines show.
//
// The end that connects sends first. A caller that has not sent its first frame
// never reaches Accept: the network holds it back, with the bounds below.
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

// Bounds on the callers of one listener that Accept has not returned. If one
// caller too many is silent, the oldest silent one is disconnected. If too many
// first frames wait, the newest caller is disconnected. So is one whose first
// frame is too large, and from one that waits nothing more is read.
inline constexpr size_t kMaxSilentCallers = 32;
inline constexpr Duration kMaxSilence = std::chrono::seconds(10);
inline constexpr size_t kMaxWaitingCallers = 32;
inline constexpr size_t kMaxFirstFrameBytes = size_t{1} << 20;

// Random bytes of one connection, chosen by the end that was called and known
// to both ends. No two connections have the same.
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

// A connection that somebody opened, and the first frame that came over it.
struct Incoming {
  std::unique_ptr<Channel> channel;
  Frame first;
};

// Judges a caller by its first frame, before it takes a place among those that
// wait for Accept. nullopt: let it in. Otherwise, the frame with which to
// disconnect it. Called from any thread; must not block.
using ConnectionFilter =
    std::function<std::optional<Frame>(const Nonce& nonce, const Frame& first)>;

class Listener {
 public:
  virtual ~Listener() = default;
  // The caller whose first frame came first. kDeadlineExceeded, or kUnavailable
  // once closed.
  virtual Result<Incoming> Accept(Time deadline) = 0;
};

class Network {
 public:
  virtual ~Network() = default;
  // kAlreadyExists if the address is taken, kInvalidArgument if it is
  // malformed.
  // Accept returns only callers that `filter` let in; null: any.
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
