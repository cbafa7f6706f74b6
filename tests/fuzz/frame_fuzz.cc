#include "engine/cluster/frame_format.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/fuzz_targets.h"

namespace gauntlet {
namespace {

void RunFrame(std::string_view input) {
  const Frame frame(input);
  const Result<FrameHeader> header = DecodeFrame(frame);
  if (!header.ok()) {
    CHECK(header.status().code() == Code::kDataLoss,
          header.status().ToString());
    return CheckErrorLine(header.status().message());
  }
  const Frame written = EncodeFrame(*header, FramePayload(frame));
  const Result<FrameHeader> again = DecodeFrame(written);
  CHECK(again.ok(), again.status().ToString());
  CheckSameText(written, EncodeFrame(*again, FramePayload(written)), "frame");
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

// Its header, with the payload's size as it is.
std::string WithPayloadSize(std::string_view input) {
  std::string frame(input);
  if (frame.size() < kFrameHeaderBytes) return frame;
  const uint64_t size = frame.size() - kFrameHeaderBytes;
  for (size_t i = 0; i < sizeof size; ++i) {
    frame[kFrameHeaderBytes - sizeof size + i] =
        static_cast<char>(size >> (8 * i) & 0xff);
  }
  return frame;
}

}  // namespace

void FuzzFrame(std::string_view input) {
  RunFrame(input);
  RunFrame(WithPayloadSize(input));
  RunList(input);
  if (input.size() >= kFrameHeaderBytes) {
    RunList(input.substr(kFrameHeaderBytes));
  }
}

std::vector<std::string> FrameSeeds() {
  const std::vector<std::string> said = {"rank 0", "", "rank 2"};
  return {
      EncodeFrame({.kind = FrameKind::kBeat, .generation = 3}, ""),
      EncodeFrame({.kind = FrameKind::kHello, .role = ChannelRole::kRing}, ""),
      EncodeFrame({.kind = FrameKind::kPartial,
                   .rank = 1,
                   .requests = 3,
                   .step = 9,
                   .correct = -1,
                   .rows = 8},
                  "0123456789abcdef"),
      EncodeFrame({.kind = FrameKind::kGather}, EncodeList(said)),
      EncodeList(said)};
}

}  // namespace gauntlet
