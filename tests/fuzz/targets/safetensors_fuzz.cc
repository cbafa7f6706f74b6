#include <cstring>

#include "engine/ckpt/format/safetensors.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/fuzz_targets.h"

namespace gauntlet {
namespace {

std::string FileOf(std::span<const TensorView> views) {
  const SafetensorsLayout layout = LayOutSafetensors(views, 7);
  std::string file = layout.header;
  for (const size_t i : layout.order) {
    const auto bytes = views[i].bytes;
    file.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  return file;
}

std::span<const std::byte> BytesOf(std::string_view text) {
  return std::as_bytes(std::span(text));
}

void RunSafetensors(std::string_view file) {
  const auto views = ParseSafetensors(BytesOf(file));
  if (!views.ok()) {
    CHECK(views.status().code() == Code::kDataLoss, views.status().ToString());
    return CheckErrorLine(views.status().message());
  }
  size_t covered = 0;
  for (const TensorView& view : *views) covered += view.bytes.size();
  CHECK(covered <= file.size(), "more bytes than there are");
  const std::string written = FileOf(*views);
  const auto again = ParseSafetensors(BytesOf(written));
  CHECK(again.ok(), again.status().ToString());
  CHECK(again->size() == views->size(), "another number of tensors");
  CheckSameText(written, FileOf(*again), "safetensors");
}

// Returns the bytes with the header length set to the actual one, so that the
// reader gets past it.
std::string WithHeaderLength(std::string_view input) {
  constexpr size_t kLength = 8;
  if (input.size() < kLength) return std::string(input);
  std::string file(input);
  const size_t brace = input.rfind('}');
  const uint64_t header =
      brace == std::string_view::npos || brace < kLength
          ? 0
          : std::min(input.find_first_not_of(' ', brace + 1), input.size()) -
                kLength;
  std::memcpy(file.data(), &header, sizeof header);
  return file;
}

}  // namespace

void FuzzSafetensors(std::string_view input) {
  RunSafetensors(input);
  RunSafetensors(WithHeaderLength(input));
}

std::vector<std::string> SafetensorsSeeds() {
  const std::string bytes = "0123456789abcdefghijklmnopqrstuv";
  const auto part = [&](size_t begin, size_t size) {
    return BytesOf(bytes).subspan(begin, size);
  };
  const std::vector<TensorView> views = {
      {.name = "dense0/kernel", .shape = {2, 2}, .bytes = part(0, 16)},
      {.name = "position/step", .dtype = DType::kU64, .bytes = part(16, 8)},
      {.name = "empty", .dtype = DType::kI64, .shape = {0}, .bytes = {}},
      {.name = "rng/key",
       .dtype = DType::kU32,
       .shape = {2},
       .bytes = part(24, 8)}};
  return {FileOf(views), FileOf({})};
}

}  // namespace gauntlet
