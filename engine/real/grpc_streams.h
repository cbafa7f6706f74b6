// The two ends of gRPC streams, as grpc_network.cc uses them.
#ifndef GAUNTLET_ENGINE_REAL_GRPC_STREAMS_H_
#define GAUNTLET_ENGINE_REAL_GRPC_STREAMS_H_

#include <memory>
#include <string>

#include "engine/real/callers.h"
#include "engine/real/descriptor.h"
#include "engine/real/grpc_link.h"
#include "engine/real/tls_credentials.h"

namespace gauntlet {

// nullptr: connections are not encrypted. Read within the call.
using Tls = const TlsCredentials*;

// Starts a connection of its own to gRPC's `target`, and a stream on it;
// `address` is for messages. nullptr if the network is going down.
std::shared_ptr<ConnectingLink> StartConnecting(LinkRegistry& registry,
                                                const std::string& address,
                                                const std::string& target,
                                                Tls tls);

// A peer's name, in gRPC's words, as it is compared: brackets as they are, and
// without a zone.
std::string PeerName(std::string peer);

// A gRPC server without ports of its own: connections are handed to it. Its
// destructor breaks them.
class StreamServer {
 public:
  // `callers` outlives it.
  StreamServer(LinkRegistry& registry, const std::string& address,
               Callers& callers, Tls tls);
  ~StreamServer();
  StreamServer(const StreamServer&) = delete;
  StreamServer& operator=(const StreamServer&) = delete;

  void Serve(Descriptor connection);

 private:
  class Service;
  const std::unique_ptr<Service> service_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_REAL_GRPC_STREAMS_H_
