#include "engine/ckpt/format/claim.h"

#include <utility>

#include "engine/ckpt/format/claim_format.h"
#include "engine/ckpt/format/store_names.h"
#include "engine/ckpt/format/text_record.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Replaces control characters: a line end would end the field. The host's name
// is only displayed, so it need not be exact.
std::string OneLine(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ') c = '?';
  }
  return text;
}

std::optional<ParentRecord> ParseParent(const TextRecord& record,
                                        std::string_view name) {
  const auto checkpoint = CheckpointName::Parse(name);
  const auto step =
      ParseNumber<uint64_t>(record.Find("parent_step").value_or(""));
  const auto phase = FindPhase(record.Find("parent_phase").value_or(""));
  const auto digest = Digest::Parse(record.Find("parent_state").value_or(""));
  const auto written_by =
      ParseNumber<uint64_t>(record.Find("parent_written_by").value_or(""));
  if (!checkpoint || !step || !phase || !digest || !written_by) {
    return std::nullopt;
  }
  return ParentRecord{.name = std::string(name),
                      .step = *step,
                      .phase = *phase,
                      .state_digest = *digest,
                      .written_by = *written_by};
}

}  // namespace

std::string EncodeClaim(const ClaimRecord& claim) {
  TextRecordWriter text("A generation's claim on this directory.");
  text.Field("generation", std::to_string(claim.generation));
  text.Field("host", OneLine(claim.host));
  text.Field("unix_seconds", std::to_string(claim.unix_seconds));
  if (!claim.launch.empty()) text.Field("launch", OneLine(claim.launch));
  switch (claim.state) {
    case ParentState::kUnrecorded:
      text.Field("parent", kClaimUnrecorded);
      break;
    case ParentState::kColdStart:
      text.Field("parent", kClaimColdStart);
      break;
    case ParentState::kRecorded:
      text.Field("parent", claim.parent.name);
      text.Field("parent_step", std::to_string(claim.parent.step));
      text.Field("parent_phase", PhaseName(claim.parent.phase));
      text.Field("parent_state", claim.parent.state_digest.ToString());
      text.Field("parent_written_by", std::to_string(claim.parent.written_by));
      break;
  }
  return std::move(text).Finish();
}

Result<ClaimRecord> ParseClaim(std::string_view text) {
  const TextRecord record = ParseTextRecord(text);
  if (record.digest != DigestLine::kRight) {
    return DataLoss(
        "expected the digest of its bytes as the last line, found none or "
        "another");
  }
  ClaimRecord claim;
  const auto generation =
      ParseNumber<uint64_t>(record.Find("generation").value_or(""));
  const auto seconds =
      ParseNumber<int64_t>(record.Find("unix_seconds").value_or(""));
  const auto parent = record.Find("parent");
  if (!generation || !seconds || !parent) {
    return DataLoss("expected generation, unix_seconds and parent");
  }
  claim.generation = *generation;
  claim.unix_seconds = *seconds;
  claim.host = record.Find("host").value_or("");
  claim.launch = record.Find("launch").value_or("");
  if (*parent == kClaimUnrecorded) return claim;
  if (*parent == kClaimColdStart) {
    claim.state = ParentState::kColdStart;
    return claim;
  }
  const auto found = ParseParent(record, *parent);
  if (!found) return DataLoss("parent: expected a checkpoint, step and digest");
  claim.state = ParentState::kRecorded;
  claim.parent = *found;
  return claim;
}

}  // namespace gauntlet
