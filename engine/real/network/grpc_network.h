// Network over gRPC.
#ifndef GAUNTLET_ENGINE_REAL_NETWORK_GRPC_NETWORK_H_
#define GAUNTLET_ENGINE_REAL_NETWORK_GRPC_NETWORK_H_

#include <cstddef>
#include <memory>
#include <string>

#include "engine/real/network/tls_credentials.h"
#include "engine/world/network.h"

namespace gauntlet {

// Send blocks while more bytes than this are queued; a single frame is always
// accepted.
inline constexpr size_t kMaxBytesInFlight = size_t{64} << 20;

// Each channel is a TCP connection of its own with one stream of the service in
// link.proto; frames are its messages. Connections are not encrypted unless
// UseTls was called. Proxy settings are ignored. If a client is on the server's
// host, and its first frame is the hello of a ring, it sends its later frames
// through a SharedLane, if possible.
//
// Frames that the receiver does not take are held: up to 64 MiB at the
// receiver, the others at the sender. A process that dies breaks its channels
// immediately; a process that hangs does not, so waits need deadlines.
//
// Close and the destructors of channels do not wait: frames already sent are
// delivered in the background. The network's destructor waits for them up to
// kLinger, then cancels the rest; after it all channels are broken. A process
// that calls Host::Exit without destroying its network may lose frames just
// sent.
//
// The address of a listener is free again when its destructor returns; channels
// that it accepted stay open. Listeners must be destroyed before their network.
//
// No gRPC thread or descriptor exists before the first Listen or Connect. After
// that the process must not fork unless the child calls exec.
class GrpcNetwork final : public Network {
 public:
  static constexpr Duration kLinger = std::chrono::milliseconds(500);

  GrpcNetwork();
  ~GrpcNetwork() override;
  GrpcNetwork(const GrpcNetwork&) = delete;
  GrpcNetwork& operator=(const GrpcNetwork&) = delete;

  // Encrypts all connections, with certificates on both ends. REQUIRES: neither
  // Listen nor Connect was called.
  void UseTls(const TlsCredentials& tls);

  using Network::Listen;
  // Also kInvalidArgument if the address does not belong to this machine.
  Result<std::unique_ptr<Listener>> Listen(const std::string& address,
                                           ConnectionFilter filter) override;
  // Returns once the server has answered on the stream. The server answers even
  // if Accept is not called. kInvalidArgument if the address is malformed.
  Result<std::unique_ptr<Channel>> Connect(const std::string& address,
                                           Time deadline) override;

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_NETWORK_GRPC_NETWORK_H_
