#include <algorithm>
#include <cstring>

#include "engine/cluster/link/chunk_format.h"
#include "engine/cluster/link/control_messages.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/fuzz_targets.h"

namespace gauntlet {
namespace {

void RunFrame(std::string_view input) {
  const Frame frame(input);
  const Result<ChunkHeader> header = DecodeChunk(frame);
  if (!header.ok()) {
    CHECK(header.status().code() == Code::kDataLoss,
          header.status().ToString());
    return CheckErrorLine(header.status().message());
  }
  const Frame written = EncodeChunk(*header, ChunkPayload(frame));
  const Result<ChunkHeader> again = DecodeChunk(written);
  CHECK(again.ok(), again.status().ToString());
  CheckSameText(written, EncodeChunk(*again, ChunkPayload(written)), "frame");
}

void RunList(std::string_view input) {
  const auto items = DecodeList(input);
  const auto size = SizeOfList(input);
  CHECK(size.status().message() == items.status().message(),
        "a list is counted as it is read");
  if (!items.ok()) return CheckErrorLine(items.status().message());
  CHECK(*size == items->size(), "a list has as many items as are counted");
  CheckSameText(input, EncodeList(*items), "list");
}

// Returns a valid frame: the first byte gives its kind, the next bytes its
// header fields, the rest its payload.
Frame SoundFrame(std::string_view input) {
  ChunkHeader header;
  const auto take = [&input](auto& value) {
    const size_t size = std::min(sizeof value, input.size());
    std::memcpy(&value, input.data(), size);
    input.remove_prefix(size);
  };
  uint8_t kind = 0;
  take(kind);
  header.kind = static_cast<ChunkKind>(1 + kind % 5);
  take(header.rank);
  take(header.index);
  take(header.request_bits);
  take(header.generation);
  take(header.step);
  take(header.correct);
  take(header.samples);
  return EncodeChunk(header, input);
}

void RunControl(std::string_view input) {
  const Result<ControlMessage> message = DecodeControl(Frame(input));
  if (!message.ok()) {
    CHECK(message.status().code() == Code::kDataLoss,
          message.status().ToString());
    return CheckErrorLine(message.status().message());
  }
  const Frame written = EncodeControl(*message);
  const Result<ControlMessage> again = DecodeControl(written);
  CHECK(again.ok(), again.status().ToString());
  CheckSameText(written, EncodeControl(*again), "control message");
}

}  // namespace

void FuzzFrame(std::string_view input) {
  RunFrame(input);
  RunFrame(SoundFrame(input));
  RunControl(input);
  RunList(input);
  if (input.size() >= kChunkHeaderBytes) {
    RunList(input.substr(kChunkHeaderBytes));
  }
}

std::vector<std::string> FrameSeeds() {
  const std::vector<std::string> payloads = {"rank 0", "", "rank 2"};
  return {EncodeControl(Challenge{}),
          EncodeControl(Hello{.role = ChannelRole::kRing,
                              .rank = 1,
                              .incarnation = 2,
                              .generation = 3,
                              .host = "h",
                              .address = "h:1",
                              .payload = "a worker",
                              .proof = "p"}),
          EncodeControl(Welcome{.generation = 1, .addresses = {"h:1", "g:1"}}),
          EncodeControl(Refusal{.code = Code::kDataLoss, .message = "no"}),
          EncodeControl(Beat{.rank = 1, .generation = 3}),
          EncodeControl(Bye{.rank = 1, .generation = 3}),
          EncodeChunk({.kind = ChunkKind::kPartial,
                       .rank = 1,
                       .request_bits = 3,
                       .step = 9,
                       .correct = -1,
                       .samples = 8},
                      "0123456789abcdef"),
          EncodeChunk({.kind = ChunkKind::kGather}, EncodeList(payloads)),
          EncodeList(payloads)};
}

}  // namespace gauntlet
