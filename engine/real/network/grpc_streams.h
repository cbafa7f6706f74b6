// The two ends of gRPC streams, as grpc_network.cc uses them.
#ifndef GAUNTLET_ENGINE_REAL_NETWORK_GRPC_STREAMS_H_
#define GAUNTLET_ENGINE_REAL_NETWORK_GRPC_STREAMS_H_

#include <memory>
#include <string>

#include "engine/real/network/grpc_link.h"
#include "engine/real/network/pending_connections.h"
#include "engine/real/network/tls_credentials.h"
#include "engine/real/posix/descriptor.h"

namespace gauntlet {

// Starts a new connection to `target`, an address in gRPC's form, and a stream
// on it. `address` is for messages. `tls` is used only during the call; null:
// no encryption. Returns nullptr if the network is shutting down.
std::shared_ptr<ConnectingLink> StartConnecting(LinkRegistry& registry,
                                                const std::string& address,
                                                const std::string& target,
                                                const TlsCredentials* tls);

// Returns gRPC's peer string without %-escapes and IPv6 zone, for comparison.
std::string NormalizePeer(std::string peer);

// A gRPC server without ports of its own: Serve passes connections to it. Its
// destructor breaks them.
class StreamServer {
 public:
  // `pending` must outlive this object. `tls` is as in StartConnecting.
  StreamServer(LinkRegistry& registry, const std::string& address,
               PendingConnections& pending, const TlsCredentials* tls);
  ~StreamServer();
  StreamServer(const StreamServer&) = delete;
  StreamServer& operator=(const StreamServer&) = delete;

  void Serve(Descriptor connection);

 private:
  class Service;
  const std::unique_ptr<Service> service_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_NETWORK_GRPC_STREAMS_H_
