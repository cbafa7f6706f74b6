#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/ckpt/state/digest_stream.h"
#include "harness/results/comparison.h"

namespace gauntlet {
namespace {

constexpr uint64_t kDigestedPiece = uint64_t{1} << 20;

void UpdateNumber(DigestStream& digest, uint64_t number) {
  digest.Update(std::as_bytes(std::span(&number, 1)));
}

void UpdateText(DigestStream& digest, std::string_view text) {
  UpdateNumber(digest, text.size());
  digest.Update(std::as_bytes(std::span(text)));
}

Status UpdateBytes(DigestStream& digest, ByteSource& bytes) {
  std::vector<std::byte> piece(std::min(kDigestedPiece, bytes.size()));
  UpdateNumber(digest, bytes.size());
  for (uint64_t at = 0; at < bytes.size();) {
    const auto part = std::span(piece).first(
        std::min<uint64_t>(piece.size(), bytes.size() - at));
    RETURN_IF_ERROR(bytes.Read(at, part));
    digest.Update(part);
    at += part.size();
  }
  return OkStatus();
}

Result<Digest> DigestOf(const ResultFile& file) {
  DigestStream digest;
  UpdateText(digest, FileFormatName(file.format));
  UpdateNumber(digest, file.tensors.size());
  for (const ResultTensor& tensor : file.tensors) {
    UpdateText(digest, tensor.name);
    UpdateText(digest, tensor.type.name);
    UpdateNumber(digest, tensor.type.bytes);
    UpdateNumber(digest, tensor.shape.size());
    for (const uint64_t size : tensor.shape) UpdateNumber(digest, size);
    RETURN_IF_ERROR(UpdateBytes(digest, *tensor.bytes));
  }
  return digest.Finish();
}

// Returns the digest of the file's values or, if one cannot be read, of the
// file as bytes, as the comparison does.
Result<Digest> DigestOfFile(const std::string& folder,
                            const std::string& name) {
  ASSIGN_OR_RETURN(const ResultFile file, OpenResultFile(folder, name));
  Result<Digest> digest = DigestOf(file);
  if (digest.status().code() != Code::kDataLoss) return digest;
  ASSIGN_OR_RETURN(const ResultFile bytes, OpenAsBytes(folder, name));
  return DigestOf(bytes);
}

}  // namespace

Result<Digest> DigestOfResult(const std::string& folder,
                              const ResultChoice& choice) {
  std::vector<std::string> notes;
  ASSIGN_OR_RETURN(const std::vector<std::string> files,
                   ListResultFiles(folder, choice, notes));
  DigestStream digest;
  for (const std::string& name : files) {
    ASSIGN_OR_RETURN(const Digest of_file, DigestOfFile(folder, name));
    UpdateText(digest, name);
    UpdateText(digest, of_file.ToString());
  }
  return digest.Finish();
}

}  // namespace gauntlet
