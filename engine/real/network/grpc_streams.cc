// Not instrumented by ThreadSanitizer (see CMakeLists.txt). The templates of
// gRPC's headers that are compiled here are synchronized by locks inside gRPC's
// library, and ThreadSanitizer cannot see these locks. So the logic that both
// ends of a stream share is in grpc_link.cc. Only the calls of gRPC, and the
// server's checks of new streams and of their first frames, are here.
#include "engine/real/network/grpc_streams.h"

#include <chrono>
#include <cstdio>
#include <utility>

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include "engine/check.h"
#include "engine/cluster/link/control_messages.h"
#include "engine/cluster/link/link.grpc.pb.h"
#include "engine/real/network/grpc_network.h"
#include "engine/real/posix/system_entropy.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr char kMethod[] = "/gauntlet.wire.Link/Open";
constexpr int kMaxHttp2FrameBytes = 16777215;  // HTTP/2's own limit
constexpr int kWindowBytes = 1 << 20;
constexpr int kReadChunkBytes = 1 << 20;
constexpr int kConnectTimeoutMs = 5000;
constexpr int kMaxBackoffMs = 100;  // the least that gRPC accepts
constexpr int kHandshakeTimeoutMs = 10000;

std::shared_ptr<grpc::ChannelCredentials> ClientCredentials(
    const TlsCredentials* tls) {
  if (tls == nullptr) return grpc::InsecureChannelCredentials();
  return grpc::SslCredentials({.pem_root_certs = tls->ca,
                               .pem_private_key = tls->key,
                               .pem_cert_chain = tls->cert});
}

// Requires a certificate of clients too.
std::shared_ptr<grpc::ServerCredentials> ServerCredentials(
    const TlsCredentials* tls) {
  if (tls == nullptr) return grpc::InsecureServerCredentials();
  grpc::SslServerCredentialsOptions options(
      GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  options.pem_root_certs = tls->ca;
  options.pem_key_cert_pairs = {
      {.private_key = tls->key, .cert_chain = tls->cert}};
  return grpc::SslServerCredentials(options);
}

std::shared_ptr<grpc::Channel> NewTransport(const std::string& target,
                                            const TlsCredentials* tls) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxFrameBytes);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // own connection
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kMaxBackoffMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kMaxBackoffMs);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kConnectTimeoutMs);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, kMaxHttp2FrameBytes);
  arguments.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, kWindowBytes);
  arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  arguments.SetInt(GRPC_ARG_TCP_READ_CHUNK_SIZE, kReadChunkBytes);
  if (tls != nullptr && !tls->name.empty()) {
    arguments.SetSslTargetNameOverride(tls->name);
  }
  return grpc::CreateCustomChannel(target, ClientCredentials(tls), arguments);
}

// The client of a connection.
class ClientLink final
    : public ConnectingLink,
      public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  ClientLink(LinkRegistry& registry, const std::string& address,
             std::shared_ptr<grpc::Channel> transport)
      : ConnectingLink(registry, address), transport_(std::move(transport)) {}

  // Starts the stream. Returns false if the network is shutting down.
  bool Start(std::shared_ptr<Link> self) {
    if (!Adopt(std::move(self))) return false;
    context_.set_wait_for_ready(true);
    grpc::GenericStub stub(transport_);
    stub.PrepareBidiStreamingCall(&context_, kMethod, {}, this);
    AddHold();  // until DeclareEnd, as other threads start operations too
    Open(std::nullopt);
    StartCall();
    return true;
  }

  void Hurry() override {
    if (transport_->GetState(false) == GRPC_CHANNEL_TRANSIENT_FAILURE) {
      grpc::experimental::ChannelResetConnectionBackoff(transport_.get());
    }
  }

  void OnReadDone(bool ok) override { OnRead(ok); }
  void OnWriteDone(bool ok) override { OnWritten(ok); }
  void OnDone(const grpc::Status& status) override {
    OnGone(status.error_message());
  }

 private:
  void StartReading(grpc::ByteBuffer* into) override { StartRead(into); }
  void StartWriting(const grpc::ByteBuffer* from) override { StartWrite(from); }
  void DeclareEnd() override {
    if (!read_lost_) StartWritesDone();
    RemoveHold();
  }
  // Frames already sent by the peer arrive before the end of its stream.
  bool MayReadAfterEnd() const override { return true; }
  void Cancel() override { context_.TryCancel(); }
  bool MustNotEndInGrpcThread() const override { return true; }

  const std::shared_ptr<grpc::Channel> transport_;
  grpc::ClientContext context_;
};

using ServerReactor =
    grpc::ServerBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer>;

// The server of a connection.
class ServerLink final : public Link, public ServerReactor {
 public:
  ServerLink(LinkRegistry& registry, const std::string& address,
             PendingConnections& pending, grpc::CallbackServerContext* context)
      : Link(registry, "client of " + address),
        pending_(pending),
        context_(context) {
    SystemEntropy().Fill(nonce_);
    ReadOneFrameOnly();
  }

  // Returns false if the network is shutting down.
  bool Start(std::shared_ptr<Link> self) {
    if (!Adopt(std::move(self))) return false;
    Open(EncodeControl(Challenge{.nonce = nonce_}));
    return true;
  }

  void OnReadDone(bool ok) override { OnRead(ok); }
  void OnWriteDone(bool ok) override { OnWritten(ok); }
  void OnDone() override {
    pending_.RemoveStream(this);
    OnGone("");
  }

 private:
  void StartReading(grpc::ByteBuffer* into) override { StartRead(into); }
  void StartWriting(const grpc::ByteBuffer* from) override { StartWrite(from); }
  void DeclareEnd() override { Finish(grpc::Status::OK); }
  bool MayReadAfterEnd() const override { return false; }
  void Cancel() override { context_->TryCancel(); }
  void Take(Frame frame) override {
    if (!std::exchange(is_silent_, false)) return Link::Take(std::move(frame));
    if (frame.size() > kMaxFirstFrameBytes) return Cancel();
    // A rejected connection counts as silent until its stream has ended. So it
    // is limited like silent ones, and has time to receive the answer.
    if (std::optional<Frame> answer = pending_.Check(nonce(), frame)) {
      return Reject(*std::move(answer));
    }
    Link::Take(std::move(frame));
    if (!pending_.MarkFirstFrame(this)) Cancel();
  }
  bool MustNotEndInGrpcThread() const override { return false; }

  PendingConnections& pending_;
  grpc::CallbackServerContext* const context_;
  bool is_silent_ = true;  // no frame has arrived
};

// Rejects a stream with a status.
class Rejection final : public ServerReactor {
 public:
  Rejection(grpc::StatusCode code, const char* why) { Finish({code, why}); }
  void OnDone() override { delete this; }
};

}  // namespace

// Serves the method Open, and passes its messages on unparsed. gRPC itself
// rejects all other methods.
class StreamServer::Service final
    : public wire::Link::WithRawCallbackMethod_Open<wire::Link::Service> {
 public:
  Service(LinkRegistry& registry, std::string address,
          PendingConnections& pending, const TlsCredentials* tls)
      : registry_(registry), address_(std::move(address)), pending_(pending) {
    grpc::ServerBuilder builder;
    builder.RegisterService(this);
    builder.SetMaxReceiveMessageSize(kMaxFrameBytes);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_FRAME_SIZE,
                               kMaxHttp2FrameBytes);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES,
                               kWindowBytes);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, 1);
    builder.AddChannelArgument(GRPC_ARG_TCP_READ_CHUNK_SIZE, kReadChunkBytes);
    builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS,
                               kHandshakeTimeoutMs);
    acceptor_ = builder.experimental().AddExternalConnectionAcceptor(
        grpc::ServerBuilder::experimental_type::ExternalConnectionType::FROM_FD,
        ServerCredentials(tls));
    server_ = builder.BuildAndStart();
    CHECK(server_ != nullptr, "a server without ports has to start");
  }
  ~Service() override { server_->Shutdown(std::chrono::system_clock::now()); }
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  void Serve(Descriptor connection) {
    grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters
        parameters;
    parameters.fd = connection.Release();
    acceptor_->HandleNewConnection(&parameters);
  }

 private:
  ServerReactor* Open(grpc::CallbackServerContext* context) override {
    auto link =
        std::make_shared<ServerLink>(registry_, address_, pending_, context);
    // Registered before the first frame can arrive.
    if (!pending_.AddStream(NormalizePeer(context->peer()), link)) {
      return new Rejection(grpc::StatusCode::RESOURCE_EXHAUSTED,
                           "one stream per connection");
    }
    if (link->Start(link)) return link.get();
    pending_.RemoveStream(link.get());
    return new Rejection(grpc::StatusCode::UNAVAILABLE, "nobody listens");
  }

  LinkRegistry& registry_;
  const std::string address_;
  PendingConnections& pending_;
  std::unique_ptr<grpc::experimental::ExternalConnectionAcceptor> acceptor_;
  std::unique_ptr<grpc::Server> server_;
};

std::string NormalizePeer(std::string peer) {
  for (const auto& [escape, sign] : {std::pair("%5B", "["), {"%5D", "]"}}) {
    const size_t at = peer.find(escape);
    if (at != peer.npos) peer.replace(at, 3, sign);
  }
  const size_t zone = peer.find('%');
  const size_t end = peer.find(']');
  if (zone < end && end != peer.npos) peer.erase(zone, end - zone);
  return peer;
}

StreamServer::StreamServer(LinkRegistry& registry, const std::string& address,
                           PendingConnections& pending,
                           const TlsCredentials* tls)
    : service_(std::make_unique<Service>(registry, address, pending, tls)) {}
StreamServer::~StreamServer() = default;

void StreamServer::Serve(Descriptor connection) {
  service_->Serve(std::move(connection));
}

std::shared_ptr<ConnectingLink> StartConnecting(LinkRegistry& registry,
                                                const std::string& address,
                                                const std::string& target,
                                                const TlsCredentials* tls) {
  const auto link = std::make_shared<ClientLink>(registry, address,
                                                 NewTransport(target, tls));
  return link->Start(link) ? link : nullptr;
}

}  // namespace gauntlet
