// Not instrumented by ThreadSanitizer (see CMakeLists.txt): the templates of
// gRPC's headers that are compiled here are ordered by locks inside its
// library, which that tool does not see. So what is decided about streams
// stands in grpc_link.cc, and only its ties to gRPC here.
#include "engine/real/grpc_streams.h"

#include <chrono>
#include <utility>

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/server_posix.h>

#include "engine/check.h"
#include "engine/real/grpc_network.h"

namespace gauntlet {
namespace {

constexpr char kMethod[] = "/gauntlet.Link/Open";
constexpr int kMaxHttp2FrameBytes = 16777215;  // the protocol's own bound
constexpr int kWindowBytes = 8 << 20;
constexpr int kReadChunkBytes = 1 << 20;
constexpr int kConnectTimeoutMs = 5000;
constexpr int kMaxBackoffMs = 100;  // the least that gRPC takes

std::shared_ptr<grpc::Channel> NewTransport(const std::string& target) {
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
  return grpc::CreateCustomChannel(target, grpc::InsecureChannelCredentials(),
                                   arguments);
}

// The end that connects.
class ClientLink final
    : public ConnectingLink,
      public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  ClientLink(LinkRegistry& registry, const std::string& address,
             std::shared_ptr<grpc::Channel> transport)
      : ConnectingLink(registry, address), transport_(std::move(transport)) {}

  // Starts the stream; false if the network is going down.
  bool Start(std::shared_ptr<Link> self) {
    if (!Adopt(std::move(self))) return false;
    context_.set_wait_for_ready(true);
    grpc::GenericStub stub(transport_);
    stub.PrepareBidiStreamingCall(&context_, kMethod, {}, this);
    AddHold();  // until DeclareEnd: others than reactions start operations
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
  // What the other end has sent comes before the end of its stream.
  bool MayReadAfterEnd() const override { return true; }
  void Cancel() override { context_.TryCancel(); }

  const std::shared_ptr<grpc::Channel> transport_;
  grpc::ClientContext context_;
};

// The end that was called.
class ServerLink final : public Link, public grpc::ServerGenericBidiReactor {
 public:
  ServerLink(LinkRegistry& registry, const std::string& address,
             grpc::GenericCallbackServerContext* context)
      : Link(registry, "caller of " + address), context_(context) {}

  bool Start(std::shared_ptr<Link> self) {
    if (!Adopt(std::move(self))) return false;
    Open(Frame(kLinkHello));
    return true;
  }

  void OnReadDone(bool ok) override { OnRead(ok); }
  void OnWriteDone(bool ok) override { OnWritten(ok); }
  void OnDone() override { OnGone(""); }

 private:
  void StartReading(grpc::ByteBuffer* into) override { StartRead(into); }
  void StartWriting(const grpc::ByteBuffer* from) override { StartWrite(from); }
  void DeclareEnd() override { Finish(grpc::Status::OK); }
  bool MayReadAfterEnd() const override { return false; }
  void Cancel() override { context_->TryCancel(); }

  grpc::GenericCallbackServerContext* const context_;
};

// Answers a stream that nobody wants.
class Refusal final : public grpc::ServerGenericBidiReactor {
 public:
  Refusal() { Finish({grpc::StatusCode::UNAVAILABLE, "nobody listens"}); }
  void OnDone() override { delete this; }
};

}  // namespace

class StreamServer::Service final : public grpc::CallbackGenericService {
 public:
  Service(LinkRegistry& registry, std::string address, Take take)
      : registry_(registry),
        address_(std::move(address)),
        take_(std::move(take)) {
    grpc::ServerBuilder builder;
    builder.RegisterCallbackGenericService(this);
    builder.SetMaxReceiveMessageSize(kMaxFrameBytes);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_FRAME_SIZE,
                               kMaxHttp2FrameBytes);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES,
                               kWindowBytes);
    builder.AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, 0);
    builder.AddChannelArgument(GRPC_ARG_TCP_READ_CHUNK_SIZE, kReadChunkBytes);
    server_ = builder.BuildAndStart();
    CHECK(server_ != nullptr, "a server without ports has to start");
  }
  ~Service() override { server_->Shutdown(std::chrono::system_clock::now()); }
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  void Serve(Descriptor connection) {
    grpc::AddInsecureChannelFromFd(server_.get(), connection.Release());
  }

 private:
  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    auto link = std::make_shared<ServerLink>(registry_, address_, context);
    if (!link->Start(link)) return new Refusal();
    if (!take_(link)) link->Close();
    return link.get();
  }

  LinkRegistry& registry_;
  const std::string address_;
  const Take take_;
  std::unique_ptr<grpc::Server> server_;
};

StreamServer::StreamServer(LinkRegistry& registry, const std::string& address,
                           Take take)
    : service_(std::make_unique<Service>(registry, address, std::move(take))) {}
StreamServer::~StreamServer() = default;

void StreamServer::Serve(Descriptor connection) {
  service_->Serve(std::move(connection));
}

std::shared_ptr<ConnectingLink> StartConnecting(LinkRegistry& registry,
                                                const std::string& address,
                                                const std::string& target) {
  const auto link =
      std::make_shared<ClientLink>(registry, address, NewTransport(target));
  return link->Start(link) ? link : nullptr;
}

}  // namespace gauntlet
