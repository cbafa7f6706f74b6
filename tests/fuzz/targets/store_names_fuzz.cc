#include "engine/check.h"
#include "engine/ckpt/format/store_names.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/fuzz_targets.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Rebuilds the name from the parsed entry. Takes the digits of a token's
// temporary file from the input, as the entry does not hold them.
std::string NameOf(const EntryName& entry, std::string_view input) {
  const std::string checkpoint = entry.checkpoint.ToString();
  switch (entry.kind) {
    case EntryKind::kClaim:
      return ClaimName(entry.generation);
    case EntryKind::kClaimTmp:
      return ClaimName(entry.generation) + std::string(kTmpSuffix);
    case EntryKind::kClaimProbe:
      return ClaimName(entry.generation) + std::string(kProbeSuffix);
    case EntryKind::kStateTmp:
      return std::string(kStateFileName) + std::string(kTmpSuffix);
    case EntryKind::kToken:
      return std::string(kTokenFileName);
    case EntryKind::kTokenProbe:
      return std::string(kTokenFileName) + std::string(kProbeSuffix);
    case EntryKind::kTokenTmp:
      return TokenTmpName(input.substr(kTokenFileName.size() + 1, 16));
    case EntryKind::kCheckpoint:
      return checkpoint;
    case EntryKind::kSaveTmp:
      return checkpoint + std::string(kTmpSuffix);
    case EntryKind::kRejected:
      return std::string(kRejectedPrefix) + checkpoint;
    case EntryKind::kDeleting: {
      const std::string before = NameBeforeDeletion(entry);
      if (entry.removed_by != 0) {
        return DeletingName(entry.removed_by, before);
      }
      return std::string(kDeletingPrefix) + before;
    }
    case EntryKind::kOther:
      break;
  }
  return "";
}

}  // namespace

void FuzzStoreNames(std::string_view input) {
  if (const auto name = CheckpointName::Parse(input)) {
    CheckSameText(input, name->ToString(), "checkpoint name");
  }
  const EntryName entry = ParseEntryName(input);
  if (entry.kind == EntryKind::kOther) return;
  CheckSameText(input, NameOf(entry, input), "entry name");
}

std::vector<std::string> StoreNamesSeeds() {
  return {"gen-000003",
          "gen-000003.tmp",
          "gen-000003.look",
          "checkpoint",
          "checkpoint.tmp",
          "job-token",
          "job-token.look",
          "job-token-0123456789abcdef.tmp",
          "step-000000150-g3",
          "step-000000150-evaluation_due-g3",
          "step-000000150-finished-g3",
          "step-000000150-in_epoch-g3",
          "step-000000200-g3.tmp",
          "rejected-step-000000150-g3",
          ".deleting-g4-step-000000100-g3",
          ".deleting-g4-rejected-step-000000100-g3",
          ".deleting-step-000000100-callbacks_due-g18446744073709551615"};
}

}  // namespace gauntlet
