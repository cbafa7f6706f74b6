#include "chaos/crash/crash_state.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

constexpr uint32_t kSectorsPerBlock = 8;

std::string BlockText(const BlockOutcome& block) {
  switch (block.kind) {
    case BlockOutcome::Kind::kNew:
      return fmt::format(".b{}n", block.block);
    case BlockOutcome::Kind::kOld:
      return fmt::format(".b{}o", block.block);
    case BlockOutcome::Kind::kNewFront:
      return fmt::format(".b{}f{}", block.block, block.sectors);
    case BlockOutcome::Kind::kOldFront:
      return fmt::format(".b{}r{}", block.block, block.sectors);
  }
  return "";
}

std::string FileText(const FileOutcome& file) {
  std::string text = fmt::format("-file{}.s{}", file.file, file.size);
  if (file.rest == UnsyncedData::kLost) text += ".o";
  for (const BlockOutcome& block : file.blocks) text += BlockText(block);
  return text;
}

// Parses a text from the front.
class IdReader {
 public:
  explicit IdReader(std::string_view rest) : rest_(rest) {}

  bool at_end() const { return rest_.empty(); }
  bool Take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  std::optional<uint64_t> Number() {
    uint64_t number = 0;
    const auto [end, error] =
        std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    const auto length = static_cast<size_t>(end - rest_.data());
    if (error != std::errc()) return std::nullopt;
    rest_.remove_prefix(length);
    return number;
  }
  std::optional<uint64_t> NumberAfter(std::string_view word) {
    return Take(word) ? Number() : std::nullopt;
  }

 private:
  std::string_view rest_;
};

std::optional<BlockOutcome> ReadBlock(IdReader& reader) {
  const auto number = reader.NumberAfter(".b");
  if (!number) return std::nullopt;
  BlockOutcome block = {.block = *number};
  if (reader.Take("o")) return block;
  if (reader.Take("n")) {
    block.kind = BlockOutcome::Kind::kNew;
    return block;
  }
  block.kind = BlockOutcome::Kind::kNewFront;
  auto sectors = reader.NumberAfter("f");
  if (!sectors) {
    block.kind = BlockOutcome::Kind::kOldFront;
    sectors = reader.NumberAfter("r");
  }
  if (!sectors || *sectors == 0 || *sectors >= kSectorsPerBlock)
    return std::nullopt;
  block.sectors = static_cast<uint32_t>(*sectors);
  return block;
}

// Reads the outcome of a file. Its number in the id has been read already.
std::optional<FileOutcome> ReadFile(IdReader& reader, uint64_t number) {
  const auto size = reader.NumberAfter(".s");
  if (!size) return std::nullopt;
  FileOutcome file = {.file = number, .size = *size};
  if (reader.Take(".o")) file.rest = UnsyncedData::kLost;
  while (const auto block = ReadBlock(reader)) {
    if (!file.blocks.empty() && file.blocks.back().block >= block->block)
      return std::nullopt;
    file.blocks.push_back(*block);
  }
  return file;
}

bool ReadPowerLoss(IdReader& reader, CrashState& state) {
  if (const auto from = reader.NumberAfter("-from")) {
    if (*from == 0) return false;
    state.lost_from = *from;
  }
  auto lost = reader.NumberAfter("-lost");
  while (lost) {
    if (*lost == 0 || (!state.lost.empty() && state.lost.back() >= *lost))
      return false;
    state.lost.push_back(*lost);
    lost = reader.NumberAfter(".");
  }
  if (reader.Take("-data0")) state.other_files = UnsyncedData::kLost;
  while (const auto number = reader.NumberAfter("-file")) {
    const auto file = ReadFile(reader, *number);
    if (!file) return false;
    if (!state.files.empty() && state.files.back().file >= file->file)
      return false;
    state.files.push_back(*file);
  }
  return true;
}

std::optional<CrashState> ReadState(std::string_view id) {
  IdReader reader(id);
  CrashState state;
  if (const auto killed = reader.NumberAfter("kill-")) {
    state.operations = *killed;
  } else if (const auto torn = reader.NumberAfter("torn-")) {
    const auto bytes = reader.NumberAfter("-");
    if (!bytes) return std::nullopt;
    state.kind = CrashStateKind::kTornWrite;
    state.operations = *torn;
    state.torn_bytes = *bytes;
  } else {
    state.kind = CrashStateKind::kPowerLoss;
    auto cut = reader.NumberAfter("ext4-");
    if (!cut) {
      state.profile = DurabilityProfile::kWeak;
      cut = reader.NumberAfter("weak-");
    }
    if (!cut || !ReadPowerLoss(reader, state)) return std::nullopt;
    state.operations = *cut;
  }
  if (!reader.at_end()) return std::nullopt;
  return state;
}

}  // namespace

std::string CrashStateId(const CrashState& state) {
  if (state.kind == CrashStateKind::kKill)
    return fmt::format("kill-{}", state.operations);
  if (state.kind == CrashStateKind::kTornWrite)
    return fmt::format("torn-{}-{}", state.operations, state.torn_bytes);
  std::string id =
      fmt::format("{}-{}", ProfileName(state.profile), state.operations);
  if (state.lost_from > 0) id += fmt::format("-from{}", state.lost_from);
  if (!state.lost.empty())
    id += fmt::format("-lost{}", fmt::join(state.lost, "."));
  if (state.other_files == UnsyncedData::kLost) id += "-data0";
  for (const FileOutcome& file : state.files) id += FileText(file);
  return id;
}

Result<CrashState> ParseCrashStateId(std::string_view id) {
  // Rejects other spellings of the same state too (a leading zero).
  auto state = ReadState(id);
  if (state && CrashStateId(*state) == id) return *std::move(state);
  return InvalidArgument(fmt::format(
      "{}: expected a crash state such as kill-120, torn-120-4096 or "
      "ext4-120-data0: take one from the report",
      id));
}

}  // namespace gauntlet
