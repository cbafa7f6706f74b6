// The callers of a session: whose hello is sound, and what the others are told.
#include <algorithm>
#include <utility>

#include "engine/cluster/address_text.h"
#include "engine/cluster/session.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr uint32_t kChief = 0;

// Of workers between two generations: a launcher gives up long before.
constexpr uint64_t kMaxStartsPerWorker = 64;
// Nothing that forms once in a millisecond gets there in a month.
constexpr uint64_t kMaxGeneration = uint64_t{1} << 32;
// Heartbeats after a call that show that the rank's worker runs. One may have
// been under way before.
constexpr uint64_t kBeatsOfProof = 2;
// However many call, the next heartbeat is not late.
constexpr int kAnswersPerBeat = 8;

}  // namespace

Result<Session::Caller> Session::AcceptCaller(ChannelRole role, Time deadline) {
  while (true) {
    ASSIGN_OR_RETURN(Incoming incoming, listener_->Accept(deadline));
    Result<Hello> hello = ReadHello(incoming.first, role);
    if (hello.ok()) {
      return Caller{.channel = std::move(incoming.channel),
                    .hello = *std::move(hello)};
    }
    Refuse(*incoming.channel, hello.status());
  }
}

// A new channel has room for one frame; whether it arrives is the caller's
// concern.
void Session::Refuse(Channel& caller, const Status& why) {
  static_cast<void>(
      caller.Send(EncodeControl(Refusal{.code = why.code(),
                                        .message = std::string(why.message())}),
                  world_->clock.Now()));
}

void Session::AnswerWaitingCallers() {
  if (!answers_callers_) return;
  for (int i = 0; i < kAnswersPerBeat; ++i) {
    Result<Incoming> incoming = listener_->Accept(world_->clock.Now());
    if (!incoming.ok()) break;
    Answer(*std::move(incoming));
  }
  RefuseTakenRanks();
}

void Session::Answer(Incoming incoming) {
  if (options_.rank != kChief) {
    return Refuse(*incoming.channel, Unavailable(fmt::format(
                                         "rank {} is no chief, and in "
                                         "generation {}",
                                         options_.rank, decision_.generation)));
  }
  Result<Hello> hello = ReadHello(incoming.first, ChannelRole::kControl);
  if (!hello.ok()) return Refuse(*incoming.channel, hello.status());
  const uint32_t rank = hello->rank;
  // Whoever started a later process has seen the end of the earlier one, and
  // who knows a generation has left it.
  const bool may_follow = hello->generation > 0 ||
                          hello->incarnation > attendants_[rank].incarnation;
  late_[rank] = {.caller = {.channel = std::move(incoming.channel),
                            .hello = *std::move(hello)},
                 .beats = heartbeat_->BeatsFrom(rank),
                 .may_follow = may_follow};
}

void Session::RefuseTakenRanks() {
  std::erase_if(late_, [this](auto& late) {
    auto& [rank, caller] = late;
    if (caller.may_follow ||
        heartbeat_->BeatsFrom(rank) < caller.beats + kBeatsOfProof) {
      return false;
    }
    Refuse(*caller.caller.channel,
           AlreadyExists(fmt::format(
               "rank {} is taken by a running worker (host {}, address {}): "
               "stop that one first, or start this one as another rank",
               rank, attendants_[rank].host, options_.addresses[rank])));
    return true;
  });
}

uint64_t Session::latest_incarnation() const {
  return std::ranges::max(attendants_, {}, &Attendant::incarnation).incarnation;
}

// Errors are what the sender ends with: kUnavailable if it may call again.
Result<Hello> Session::ReadHello(const Frame& first, ChannelRole role) const {
  Result<Hello> read = DecodeControlAs<Hello>(first);
  if (!read.ok()) return InvalidArgument(read.status().message());
  Hello& hello = *read;
  if (hello.role != role) {
    return Unavailable("this worker does not wait for such a hello now");
  }
  if (hello.rank >= static_cast<uint32_t>(options_.size())) {
    return InvalidArgument(fmt::format("expected a rank below {}, found {}",
                                       options_.size(), hello.rank));
  }
  if (role == ChannelRole::kControl) {
    RETURN_IF_ERROR(CheckControlHello(hello));
  }
  return read;
}

// What a hello claims must be possible: a number out of all reason would keep
// the rank's own worker out, or be the last number that there is.
Status Session::CheckControlHello(const Hello& hello) const {
  if (hello.rank == kChief) {
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
  if (options_.address_book == AddressBook::kToldByChief) {
    RETURN_IF_ERROR(CheckAddress(hello.address));
  }
  if (!options_.check_introduction) return OkStatus();
  const Status sound = options_.check_introduction(hello.introduction);
  if (sound.ok()) return sound;
  return InvalidArgument(
      fmt::format("rank {}: {}", hello.rank, sound.message()));
}

}  // namespace gauntlet
