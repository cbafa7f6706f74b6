// Handles connections to a session: checks hellos, and answers late
// connections.
#include <algorithm>
#include <utility>

#include "engine/cluster/address_text.h"
#include "engine/cluster/link/numbered_channel.h"
#include "engine/cluster/session/session.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr uint32_t kChiefRank = 0;

// Limit on a worker's starts between two generations; a launcher stops
// restarting it long before.
constexpr uint64_t kMaxStartsPerWorker = 64;
// Greatest generation in a valid hello. A cluster that forms once per
// millisecond does not reach it in a month.
constexpr uint64_t kMaxGeneration = uint64_t{1} << 32;
// If this many heartbeats arrive after a late hello, the rank's worker is still
// running. One heartbeat is not enough, as it may have been sent before the
// hello.
constexpr uint64_t kBeatsOfProof = 2;
// Limit on answers between two heartbeats, so that the next heartbeat is not
// late.
constexpr int kAnswersPerBeat = 8;

// Longest delay of a line about a rejected connection.
constexpr Duration kLogWithin = std::chrono::seconds(1);

}  // namespace

LinkContext Session::ContextOf(const Hello& hello,
                               const Channel& channel) const {
  return {.server_nonce = channel.nonce(),
          .client_nonce = hello.nonce,
          .client = hello.rank,
          .server = static_cast<uint32_t>(options_.rank)};
}

LinkContext Session::ContextOfRank(size_t rank) const {
  return {.server_nonce = control_[rank]->nonce(),
          .client_nonce = hello_nonces_[rank],
          .client = static_cast<uint32_t>(rank),
          .server = kChiefRank};
}

Frame Session::RefusalTo(const LinkContext& link, const Status& reason) const {
  Refusal refusal = {.code = reason.code(),
                     .message = Shortened(reason.message())};
  gate_->proofs().Sign(link, refusal);
  return EncodeControl(refusal);
}

void Session::LogRejections() {
  if (!options_.log) return;
  if (const auto line = gate_->TakeLogLine(world_->clock.Now())) {
    options_.log(*line);
  }
}

// Logs rejected connections while it waits: one of them may be from the worker
// that is missing.
Result<Incoming> Session::AcceptAny(Time deadline) {
  while (true) {
    const Time until = std::min(deadline, world_->clock.Now() + kLogWithin);
    Result<Incoming> incoming = listener_->Accept(until);
    LogRejections();
    if (incoming.status().code() != Code::kDeadlineExceeded ||
        until == deadline) {
      return incoming;
    }
  }
}

Session::Client Session::ClientOf(Incoming incoming, Hello hello) const {
  return {.channel = NumberFrames(world_->tasks, LinkEnd::kServer,
                                  std::move(incoming.channel)),
          .hello = std::move(hello)};
}

Result<Session::Client> Session::AcceptClient(Time deadline) {
  while (true) {
    ASSIGN_OR_RETURN(Incoming incoming, AcceptAny(deadline));
    Result<Hello> hello = DecodeControlAs<Hello>(incoming.first);
    if (!hello.ok()) continue;  // the gate rejects such frames
    return ClientOf(std::move(incoming), *std::move(hello));
  }
}

// Sends `accepted`. Returns an error if the connection is closed: the client
// may have connected again, so this hello does not count.
Status Session::Accept(const Client& client) {
  Accepted accepted;
  gate_->proofs().Sign(ContextOf(client.hello, *client.channel), accepted);
  return client.channel->Send(EncodeControl(accepted), world_->clock.Now());
}

// Sends the refusal without waiting: a new channel has room for one frame. It
// does not matter if the refusal is lost.
void Session::Refuse(const Client& client, const Status& why) {
  static_cast<void>(client.channel->Send(
      RefusalTo(ContextOf(client.hello, *client.channel), why),
      world_->clock.Now()));
}

void Session::AnswerLateConnections() {
  if (!rejects_late_) return;
  for (int i = 0; i < kAnswersPerBeat; ++i) {
    Result<Incoming> incoming = listener_->Accept(world_->clock.Now());
    if (!incoming.ok()) break;
    AnswerLateConnection(*std::move(incoming));
  }
  RefuseTakenRanks();
}

void Session::AnswerLateConnection(Incoming incoming) {
  Result<Hello> hello = DecodeControlAs<Hello>(incoming.first);
  if (!hello.ok()) return;  // the gate rejects such frames
  Client client = ClientOf(std::move(incoming), *std::move(hello));
  if (options_.rank != kChiefRank) {
    return Refuse(client, Unavailable(fmt::format(
                              "rank {} is not the chief (generation {})",
                              options_.rank, decision_.generation)));
  }
  const Status status = CheckHello(client.hello, ChannelRole::kControl);
  if (!status.ok()) return Refuse(client, status);
  const uint32_t rank = client.hello.rank;
  // In both cases below, the rank's worker may be gone. A worker whose hello
  // names a generation has left that generation. A launcher starts a later
  // incarnation only after the earlier one has ended.
  const bool may_replace = client.hello.generation > 0 ||
                           client.hello.incarnation > joined_[rank].incarnation;
  late_[rank] = {.client = std::move(client),
                 .beats = heartbeat_->BeatsFrom(rank),
                 .may_replace = may_replace};
}

void Session::RefuseTakenRanks() {
  std::erase_if(late_, [this](auto& late) {
    auto& [rank, connection] = late;
    if (connection.may_replace ||
        heartbeat_->BeatsFrom(rank) < connection.beats + kBeatsOfProof) {
      return false;
    }
    Refuse(connection.client,
           AlreadyExists(fmt::format(
               "rank {} is taken by a running worker (host {}, address {}): "
               "stop that one first, or start this one as another rank",
               rank, joined_[rank].host, options_.addresses[rank])));
    return true;
  });
}

uint64_t Session::latest_incarnation() const {
  return std::ranges::max(joined_, {}, &JoinedWorker::incarnation).incarnation;
}

// A later incarnation starts only after the earlier one has ended. A worker
// sends a generation only after it has left that generation. The hello of an
// earlier incarnation is from a stale worker and proves nothing.
bool Session::SupersedesJoinedWorker(const Hello& hello) const {
  if (options_.rank != kChiefRank ||
      !CheckHello(hello, ChannelRole::kControl).ok()) {
    return false;
  }
  const JoinedWorker& known = joined_[hello.rank];
  return std::pair(hello.incarnation, hello.generation) >
         std::pair(known.incarnation, known.generation);
}

// Returns the error to send to the client; kUnavailable if it may retry.
Status Session::CheckHello(const Hello& hello, ChannelRole role) const {
  if (hello.role != role) {
    return Unavailable("unexpected hello");
  }
  if (hello.rank >= static_cast<uint32_t>(options_.size())) {
    return InvalidArgument(fmt::format("expected a rank below {}, found {}",
                                       options_.size(), hello.rank));
  }
  return role == ChannelRole::kControl ? CheckControlHello(hello) : OkStatus();
}

// Rejects a hello with impossible numbers. A far too large incarnation would
// exclude the rank's real worker. A far too large generation would overflow
// when it is incremented.
Status Session::CheckControlHello(const Hello& hello) const {
  if (hello.rank == kChiefRank) {
    return InvalidArgument("rank 0 is this chief: expected another rank");
  }
  const uint64_t latest =
      std::max(options_.incarnation, options_.latest_incarnation) +
      kMaxStartsPerWorker * static_cast<uint64_t>(options_.size());
  if (hello.incarnation > latest) {
    return InvalidArgument(
        fmt::format("rank {}: expected an incarnation of at most {}, found {}",
                    hello.rank, latest, hello.incarnation));
  }
  if (hello.generation > kMaxGeneration) {
    return InvalidArgument(
        fmt::format("rank {}: expected a generation of at most {}, found {}",
                    hello.rank, kMaxGeneration, hello.generation));
  }
  if (options_.address_book == AddressBook::kSentByChief) {
    RETURN_IF_ERROR(CheckAddress(hello.address));
  }
  if (!options_.check_hello_payload) return OkStatus();
  const Status sound = options_.check_hello_payload(hello.payload);
  if (sound.ok()) return sound;
  return InvalidArgument(
      fmt::format("rank {}: {}", hello.rank, sound.message()));
}

}  // namespace gauntlet
