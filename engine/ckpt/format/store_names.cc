#include "engine/ckpt/format/store_names.h"

#include <charconv>
#include <limits>

#include "engine/check.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr std::string_view kStepPrefix = "step-";
constexpr std::string_view kClaimPrefix = "gen-";
// Phase text in the name of a checkpoint whose step is completely done; it
// stands for Phase::kInEpoch.
constexpr std::string_view kFinished = "finished";
constexpr std::string_view kShardPrefix = "model-";
constexpr std::string_view kShardOf = "-of-";
constexpr std::string_view kShardSuffix = ".safetensors";
// Minimum numbers of digits, with leading zeros.
constexpr size_t kStepDigits = 9;
constexpr size_t kClaimDigits = 6;
constexpr size_t kShardDigits = 5;
constexpr size_t kTokenTmpDigits = 16;

bool Consume(std::string_view prefix, std::string_view& text) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// Removes a decimal number from the front of the text and returns it. The
// number has at least `width` digits, and leading zeros only up to that width,
// as fmt's "{:0{}}" writes it.
std::optional<uint64_t> ConsumeNumber(std::string_view& text, size_t width) {
  uint64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  const auto digits = static_cast<size_t>(end - text.data());
  if (digits < width || (digits > width && text.front() == '0')) {
    return std::nullopt;
  }
  text.remove_prefix(digits);
  return value;
}

bool IsTokenTmp(std::string_view name) {
  if (!Consume(kTokenFileName, name) || !Consume("-", name) ||
      !name.ends_with(kTmpSuffix)) {
    return false;
  }
  name.remove_suffix(kTmpSuffix.size());
  return name.size() == kTokenTmpDigits &&
         name.find_first_not_of("0123456789abcdef") == name.npos;
}

// Removes "g4-" from the front of the text. Returns the generation (4), 0 if
// the text does not begin with 'g', and nullopt if it is malformed.
std::optional<uint64_t> ConsumeRemover(std::string_view& text) {
  if (!Consume("g", text)) return 0;
  const auto generation = ConsumeNumber(text, 1);
  const bool is_remover = generation && *generation != 0 && Consume("-", text);
  return is_remover ? generation : std::nullopt;
}

// Returns the kind of an entry for the job token; kOther if the name is not
// that of such an entry.
EntryKind TokenKindOf(std::string_view name) {
  if (!name.starts_with(kTokenFileName)) return EntryKind::kOther;
  if (name == kTokenFileName) return EntryKind::kToken;
  if (name.substr(kTokenFileName.size()) == kProbeSuffix) {
    return EntryKind::kTokenProbe;
  }
  return IsTokenTmp(name) ? EntryKind::kTokenTmp : EntryKind::kOther;
}

}  // namespace

std::string CheckpointName::ToString() const {
  std::string name = fmt::format("{}{:0{}}", kStepPrefix, step, kStepDigits);
  if (phase == Phase::kInEpoch && !is_named_in_epoch) {
    name.append("-").append(kFinished);
  } else if (phase) {
    name.append("-").append(PhaseName(*phase));
  }
  return name + fmt::format("-g{}", generation);
}

std::optional<CheckpointName> CheckpointName::Parse(std::string_view name) {
  std::string_view rest = name;
  if (!Consume(kStepPrefix, rest)) return std::nullopt;
  CheckpointName parsed;
  const auto step = ConsumeNumber(rest, kStepDigits);
  if (!step) return std::nullopt;
  parsed.step = *step;
  const size_t suffix = rest.rfind("-g");
  if (suffix == std::string_view::npos) return std::nullopt;
  if (suffix > 0) {
    if (rest.front() != '-') return std::nullopt;
    const std::string_view word = rest.substr(1, suffix - 1);
    parsed.phase = word == kFinished ? Phase::kInEpoch : FindPhase(word);
    if (!parsed.phase) return std::nullopt;
    parsed.is_named_in_epoch =
        parsed.phase == Phase::kInEpoch && word != kFinished;
  }
  rest.remove_prefix(suffix + 2);
  const auto generation = ConsumeNumber(rest, 1);
  if (!generation || !rest.empty()) return std::nullopt;
  parsed.generation = *generation;
  return parsed;
}

EntryName ParseEntryName(std::string_view name) {
  EntryName entry;
  std::string_view rest = name;
  if (const EntryKind token = TokenKindOf(name); token != EntryKind::kOther) {
    return {.kind = token, .checkpoint = {}};
  }
  entry.kind = EntryKind::kCheckpoint;
  if (rest.ends_with(kTmpSuffix) &&
      rest.substr(0, rest.size() - kTmpSuffix.size()) == kStateFileName) {
    return {.kind = EntryKind::kStateTmp, .checkpoint = {}};
  }
  if (rest.ends_with(kProbeSuffix)) {
    rest.remove_suffix(kProbeSuffix.size());
    const auto generation = ParseClaimName(rest);
    if (!generation) return {.kind = EntryKind::kOther, .checkpoint = {}};
    return {.kind = EntryKind::kClaimProbe,
            .checkpoint = {},
            .generation = *generation};
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
  const bool tmp = entry.kind == EntryKind::kSaveTmp;
  if (Consume(kDeletingPrefix, rest)) {
    entry.kind = EntryKind::kDeleting;
    const auto remover = ConsumeRemover(rest);
    if (!remover) return {.kind = EntryKind::kOther, .checkpoint = {}};
    entry.removed_by = *remover;
    entry.was_rejected = Consume(kRejectedPrefix, rest);
  } else if (Consume(kRejectedPrefix, rest)) {
    entry.kind = EntryKind::kRejected;
  }
  const auto checkpoint = CheckpointName::Parse(rest);
  // An unfinished save (.tmp) is never set aside or renamed for removal, so
  // such a name is not the engine's.
  const bool odd = tmp && entry.kind != EntryKind::kSaveTmp;
  if (!checkpoint || odd) return {.kind = EntryKind::kOther, .checkpoint = {}};
  entry.checkpoint = *checkpoint;
  entry.generation = checkpoint->generation;
  return entry;
}

std::string DeletingName(uint64_t generation, std::string_view name) {
  return fmt::format("{}g{}-{}", kDeletingPrefix, generation, name);
}

std::string NameBeforeDeletion(const EntryName& entry) {
  CHECK(entry.kind == EntryKind::kDeleting, "the entry is not being deleted");
  const std::string name = entry.checkpoint.ToString();
  return entry.was_rejected ? std::string(kRejectedPrefix) + name : name;
}

std::string ClaimName(uint64_t generation) {
  return fmt::format("{}{:0{}}", kClaimPrefix, generation, kClaimDigits);
}

std::optional<uint64_t> ParseClaimName(std::string_view name) {
  std::string_view rest = name;
  if (!Consume(kClaimPrefix, rest)) return std::nullopt;
  const auto generation = ConsumeNumber(rest, kClaimDigits);
  // Generations count from 1.
  return rest.empty() && generation != 0 ? generation : std::nullopt;
}

std::string TokenTmpName(std::string_view digits) {
  return fmt::format("{}-{}{}", kTokenFileName, digits, kTmpSuffix);
}

std::string ShardName(int index, int count) {
  CHECK(0 <= index && index < count,
        fmt::format("shard {} of {}", index, count));
  return fmt::format("{}{:0{}}{}{:0{}}{}", kShardPrefix, int64_t{index} + 1,
                     kShardDigits, kShardOf, count, kShardDigits, kShardSuffix);
}

std::optional<ShardPlace> ParseShardName(std::string_view name) {
  constexpr uint64_t kMostShards = 1'000'000;
  std::string_view rest = name;
  if (!Consume(kShardPrefix, rest)) return std::nullopt;
  const auto number = ConsumeNumber(rest, kShardDigits);
  if (!number || !Consume(kShardOf, rest)) return std::nullopt;
  const auto count = ConsumeNumber(rest, kShardDigits);
  if (!count || rest != kShardSuffix || *count > kMostShards || *number < 1 ||
      *number > *count) {
    return std::nullopt;
  }
  return ShardPlace{.index = static_cast<int>(*number) - 1,
                    .count = static_cast<int>(*count)};
}

Status CheckPathsFit(Storage& storage, const std::string& directory) {
  constexpr uint64_t kLast = std::numeric_limits<uint64_t>::max();
  constexpr int kManyShards = 99999;
  // No path in a checkpoint directory is longer than this one.
  const CheckpointName checkpoint{
      .step = kLast, .phase = Phase::kEvaluationDue, .generation = kLast};
  const std::string longest = fmt::format(
      "{}/{}/{}", directory, DeletingName(kLast, checkpoint.ToString()),
      ShardName(kManyShards - 1, kManyShards));
  const Status opened = storage.Open(longest, OpenMode::kRead).status();
  if (opened.code() != Code::kForbidden) return OkStatus();
  // If a short path is refused too, the reason is not the length: this process
  // has no permission to search the directory.
  const std::string shortest = fmt::format("{}/{}", directory, kDeletingPrefix);
  const Status without = storage.Open(shortest, OpenMode::kRead).status();
  if (without.code() == Code::kForbidden) return OkStatus();
  return Annotate(opened, "the paths of checkpoints");
}

}  // namespace gauntlet
