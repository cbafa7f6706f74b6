// Network over gRPC.
#ifndef GAUNTLET_ENGINE_REAL_NETWORK_GRPC_NETWORK_H_
#define GAUNTLET_ENGINE_REAL_NETWORK_GRPC_NETWORK_H_

#include <cstddef>
#include <memory>
#include <string>

#include "engine/real/network/tls_credentials.h"
#include "engine/world/network.h"

namespace gauntlet {

// Send blocks while frames of more bytes than this are on their way out; a
// single frame always goes.
inline constexpr size_t kMaxBytesUnderWay = size_t{64} << 20;

// Each channel is a TCP connection of its own with one stream of the service
// in link.proto; frames are its messages. Not encrypted unless UseTls was
// called; heedless of proxy settings. A client on the server's host that opens
// with the hello of a ring sends its other frames by a SharedLane.
//
// Frames that the other end does not take are held here up to 64 MiB, then in
// the sender. A process that dies breaks its channels at once; one that stops
// does not, so waits need deadlines.
//
// Close and destructors of channels do not wait: frames already sent go on in
// the background. The destructor of the network gives them kLinger, then cuts
// them off; after it all channels are broken. A process that leaves by
// Host::Exit without destroying its network may lose what it has just sent.
//
// The address of a listener is free again as soon as its destructor returns,
// channels accepted before live on. Listeners go before their network.
//
// No gRPC thread or descriptor exists before the first Listen or Connect; a
// process that has called one must not fork and go on without exec.
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
  // Also kInvalidArgument if the address is not one of this machine.
  Result<std::unique_ptr<Listener>> Listen(const std::string& address,
                                           ConnectionFilter filter) override;
  // Complete once the other end has answered on the stream, which it does
  // without a call of Accept. kInvalidArgument if the address is malformed.
  Result<std::unique_ptr<Channel>> Connect(const std::string& address,
                                           Time deadline) override;

 private:
  struct State;
  const std::unique_ptr<State> state_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_NETWORK_GRPC_NETWORK_H_
