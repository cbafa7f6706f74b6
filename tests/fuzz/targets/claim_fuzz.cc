#include "engine/ckpt/format/claim.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/fuzz_targets.h"
#include "tests/fuzz/targets/signed_text.h"

namespace gauntlet {
namespace {

void RunClaim(std::string_view text) {
  const Result<ClaimRecord> claim = ParseClaim(text);
  if (!claim.ok()) {
    CHECK(claim.status().code() == Code::kDataLoss, claim.status().ToString());
    return CheckErrorLine(claim.status().message());
  }
  const std::string written = EncodeClaim(*claim);
  const Result<ClaimRecord> again = ParseClaim(written);
  CHECK(again.ok(), again.status().ToString());
  CHECK(again->state == claim->state && again->parent == claim->parent &&
            again->generation == claim->generation,
        written);
  CheckSameText(written, EncodeClaim(*again), "claim");
}

}  // namespace

void FuzzClaim(std::string_view input) {
  RunClaim(input);
  RunClaim(SignedText(input, "xxh3_128: ", "\n"));
}

std::vector<std::string> ClaimSeeds() {
  ClaimRecord claim = {
      .generation = 3, .host = "machine-a", .unix_seconds = 1'700'000'000};
  std::vector<std::string> seeds = {EncodeClaim(claim)};
  claim.state = ParentState::kColdStart;
  seeds.push_back(EncodeClaim(claim));
  claim.state = ParentState::kRecorded;
  claim.parent = {.name = "step-000000150-g2",
                  .step = 150,
                  .state_digest = DigestOf("state"),
                  .written_by = 2};
  seeds.push_back(EncodeClaim(claim));
  return seeds;
}

}  // namespace gauntlet
