// The two ends of gRPC streams, as grpc_network.cc uses them.
#ifndef GAUNTLET_ENGINE_REAL_GRPC_STREAMS_H_
#define GAUNTLET_ENGINE_REAL_GRPC_STREAMS_H_

#include <functional>
#include <memory>
#include <string>

#include "engine/real/descriptor.h"
#include "engine/real/grpc_link.h"

namespace gauntlet {

// Starts a connection of its own to gRPC's `target`, and a stream on it;
// `address` is for messages. nullptr if the network is going down.
std::shared_ptr<ConnectingLink> StartConnecting(LinkRegistry& registry,
                                                const std::string& address,
                                                const std::string& target);

// A gRPC server without ports of its own: connections are handed to it. Its
// destructor breaks them.
class StreamServer {
 public:
  // Takes a stream that somebody opened; false to refuse it. Called from
  // gRPC's threads.
  using Take = std::function<bool(std::shared_ptr<Link>)>;

  StreamServer(LinkRegistry& registry, const std::string& address, Take take);
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
