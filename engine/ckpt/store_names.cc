#include "engine/ckpt/store_names.h"

#include <charconv>

#include "engine/check.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr std::string_view kStepPrefix = "step-";
constexpr std::string_view kClaimPrefix = "gen-";

bool Consume(std::string_view prefix, std::string_view& text) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// Takes a decimal number from the front. Zeros in front are accepted here; that
// names are canonical is checked by writing them again.
std::optional<uint64_t> ConsumeNumber(std::string_view& text) {
  uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return value;
}

std::optional<uint64_t> ParseClaimName(std::string_view name) {
  std::string_view rest = name;
  if (!Consume(kClaimPrefix, rest)) return std::nullopt;
  const auto generation = ConsumeNumber(rest);
  if (!generation || ClaimName(*generation) != name) return std::nullopt;
  return generation;
}

}  // namespace

std::string CheckpointName::ToString() const {
  std::string name = fmt::format("step-{:09}", step);
  if (phase) name += fmt::format("-{}", PhaseName(*phase));
  return name + fmt::format("-g{}", generation);
}

std::optional<CheckpointName> CheckpointName::Parse(std::string_view name) {
  std::string_view rest = name;
  if (!Consume(kStepPrefix, rest)) return std::nullopt;
  CheckpointName parsed;
  const auto step = ConsumeNumber(rest);
  if (!step) return std::nullopt;
  parsed.step = *step;
  const size_t suffix = rest.rfind("-g");
  if (suffix == std::string_view::npos) return std::nullopt;
  if (suffix > 0) parsed.phase = FindPhase(rest.substr(1, suffix - 1));
  rest.remove_prefix(suffix + 2);
  const auto generation = ConsumeNumber(rest);
  if (!generation) return std::nullopt;
  parsed.generation = *generation;
  if (parsed.ToString() != name) return std::nullopt;
  return parsed;
}

EntryName ParseEntryName(std::string_view name) {
  EntryName entry;
  std::string_view rest = name;
  entry.kind = EntryKind::kCheckpoint;
  if (name == fmt::format("{}{}", kStateFileName, kTmpSuffix)) {
    return {.kind = EntryKind::kStateTmp, .checkpoint = {}};
  }
  if (rest.ends_with(kTmpSuffix)) {
    rest.remove_suffix(kTmpSuffix.size());
    entry.kind = EntryKind::kSaveTmp;
  }
  if (const auto generation = ParseClaimName(rest)) {
    entry.kind = rest == name ? EntryKind::kClaim : EntryKind::kClaimTmp;
    entry.generation = *generation;
    return entry;
  }
  if (Consume(kDeletingPrefix, rest)) {
    entry.kind = EntryKind::kDeleting;
    Consume(kRejectedPrefix, rest);
  } else if (Consume(kRejectedPrefix, rest)) {
    entry.kind = EntryKind::kRejected;
  }
  const auto checkpoint = CheckpointName::Parse(rest);
  if (!checkpoint) return {.kind = EntryKind::kOther, .checkpoint = {}};
  entry.checkpoint = *checkpoint;
  entry.generation = checkpoint->generation;
  return entry;
}

std::string ClaimName(uint64_t generation) {
  return fmt::format("gen-{:06}", generation);
}

std::string ShardName(int index, int count) {
  CHECK(0 <= index && index < count,
        fmt::format("shard {} of {}", index, count));
  return fmt::format("model-{:05}-of-{:05}.safetensors", index + 1, count);
}

}  // namespace gauntlet
