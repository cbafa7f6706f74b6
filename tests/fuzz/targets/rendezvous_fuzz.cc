// Messages between workers and chief in a rendezvous, and the ranks' reports on
// a save.
#include "engine/train/rendezvous/common_settings.h"
#include "engine/train/rendezvous/rendezvous_messages.h"
#include "engine/train/save/collective_save.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/fuzz_targets.h"

namespace gauntlet {
namespace {

// Returns this worker's settings, with which those of other workers are
// compared.
std::string OwnSettings() {
  return EncodeCommonSettings(TrainOptions(), R"({"seed":1,"batch":4})");
}

// Checks that a value is the same after it is written and read again. An error
// must be kDataLoss.
template <typename Decode, typename Encode>
void RunRoundTrip(std::string_view input, const Decode& decode,
                  const Encode& encode, std::string_view what) {
  const auto value = decode(input);
  if (!value.ok()) {
    CHECK(value.status().code() == Code::kDataLoss, value.status().ToString());
    return CheckErrorLine(value.status().message());
  }
  const std::string written = encode(*value);
  const auto again = decode(written);
  CHECK(again.ok(), again.status().ToString());
  CheckSameText(written, encode(*again), what);
}

void RunSettings(std::string_view input) {
  const Status sound = CheckSettings(input);
  if (!sound.ok()) CheckErrorLine(sound.message());
  const Status compared = CompareSettings(OwnSettings(), input, 1);
  CHECK(sound.ok() || compared.code() == Code::kUnavailable,
        compared.ToString());
  constexpr size_t kMost = 4200;
  CHECK(compared.message().size() <= kMost, "a message without a bound");
}

}  // namespace

void FuzzRendezvous(std::string_view input) {
  RunRoundTrip(input, DecodeHeld, EncodeHeld, "state in memory");
  RunRoundTrip(input, DecodeStart, EncodeStart, "start");
  RunRoundTrip(input, DecodeOffer, EncodeOffer, "offer");
  RunRoundTrip(input, DecodeCollective, EncodeCollective, "collective");
  RunRoundTrip(input, DecodeIntroduction, EncodeIntroduction, "introduction");
  RunRoundTrip(input, DecodeDecision, EncodeDecision, "decision");
  RunSettings(input);
  const Status status = DecodeStatus(input);
  CheckSameText(status.message(), DecodeStatus(EncodeStatus(status)).message(),
                "status");
}

std::vector<std::string> RendezvousSeeds() {
  const HeldState held = {.step = 7, .digest = DigestOf("a")};
  const CheckpointRef parent = {
      .name = "step-000000005-g2", .step = 5, .generation = 2};
  StartDecision memory;
  memory.from_memory = {.state = held, .holder = 1, .receivers = {0, 2}};
  return {
      OwnSettings(),
      EncodeHeld(held),
      EncodeStart({.checkpoint = parent, .from_memory = {}}),
      EncodeStart(memory),
      EncodeOffer(
          {.unavailable_reason = "none", .version = "1", .device = "d"}),
      EncodeCollective({.communicator = gpu::CommunicatorId(), .line = "l"}),
      EncodeStatus(DataLoss("torn"))};
}

}  // namespace gauntlet
