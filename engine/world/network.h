// Messages between processes: ordered, whole, or lost with the connection.
//
// Addresses are "host:port". Frames arrive whole, in order and at most once;
// when a connection breaks, both ends learn of it (kUnavailable) unless the
// network itself is cut, which only deadlines show.
#ifndef GAUNTLET_ENGINE_WORLD_NETWORK_H_
#define GAUNTLET_ENGINE_WORLD_NETWORK_H_

#include <memory>
#include <string>

#include "engine/status.h"
#include "engine/world/clock.h"

namespace gauntlet {

// The bytes of one message.
using Frame = std::string;

// One connection. Send and Receive may run in different tasks at once, each in
// one task at a time. The destructor closes; neither may be running then.
class Channel {
 public:
  virtual ~Channel() = default;
  // Hands the frame over; blocks only while too much is under way already.
  // kDeadlineExceeded or kUnavailable. Ok does not mean that it arrived.
  virtual Status Send(Frame frame, Time deadline) = 0;
  // The next frame. kDeadlineExceeded leaves the connection usable;
  // kUnavailable: it is lost, and all frames that came were handed out.
  virtual Result<Frame> Receive(Time deadline) = 0;
  // Breaks the connection; wakes both ends. Frames already handed to Send are
  // still delivered where the network allows.
  virtual void Close() = 0;
};

class Listener {
 public:
  virtual ~Listener() = default;
  // kDeadlineExceeded, or kUnavailable once closed.
  virtual Result<std::unique_ptr<Channel>> Accept(Time deadline) = 0;
};

class Network {
 public:
  virtual ~Network() = default;
  // kAlreadyExists if the address is taken, kInvalidArgument if it is
  // malformed.
  virtual Result<std::unique_ptr<Listener>> Listen(
      const std::string& address) = 0;
  // Tries until somebody listens there or the deadline comes
  // (kDeadlineExceeded).
  virtual Result<std::unique_ptr<Channel>> Connect(const std::string& address,
                                                   Time deadline) = 0;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_WORLD_NETWORK_H_
