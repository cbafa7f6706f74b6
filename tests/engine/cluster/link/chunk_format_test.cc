// Frames and lists: round trips, and foreign bytes.
#include "engine/cluster/link/chunk_format.h"

#include <cstring>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "engine/cluster/link/link.pb.h"

namespace gauntlet {
namespace {

ChunkHeader ArbitraryHeader() {
  return {.kind = static_cast<ChunkKind>(*rc::gen::inRange(1, 6)),
          .phase = static_cast<Phase>(*rc::gen::inRange(0, 3)),
          .rank = *rc::gen::arbitrary<uint32_t>(),
          .index = *rc::gen::arbitrary<uint32_t>(),
          .request_bits = *rc::gen::arbitrary<uint32_t>(),
          .generation = *rc::gen::arbitrary<uint64_t>(),
          .step = *rc::gen::arbitrary<uint64_t>(),
          .correct = *rc::gen::arbitrary<int64_t>(),
          .samples = *rc::gen::arbitrary<int64_t>()};
}

RC_GTEST_PROP(ChunkFormatProperty, HeadersComeBackAsTheyWere, ()) {
  const ChunkHeader header = ArbitraryHeader();
  const auto payload = *rc::gen::arbitrary<std::string>();
  const Frame frame = EncodeChunk(header, payload);
  const Result<ChunkHeader> back = DecodeChunk(frame);
  RC_ASSERT(back.ok());
  RC_ASSERT(EncodeChunk(*back, ChunkPayload(frame)) == frame);
}

RC_GTEST_PROP(ChunkFormatProperty, NoBytesCrashTheReaders, ()) {
  const auto bytes = *rc::gen::arbitrary<std::string>();
  RC_ASSERT(DecodeChunk(bytes).status().code() == Code::kDataLoss);
  const Result<std::vector<std::string>> list = DecodeList(bytes);
  RC_ASSERT(SizeOfList(bytes).ok() == list.ok());
  if (list.ok()) RC_ASSERT(EncodeList(*list) == bytes);
}

RC_GTEST_PROP(ChunkFormatProperty, ListsAreCountedAndGrowAsTheyLie,
              (const std::vector<std::string>& items,
               const std::string& last)) {
  std::string list = EncodeList(items);
  RC_ASSERT(SizeOfList(list).value() == items.size());
  AppendToList(last, list);
  std::vector<std::string> all = items;
  all.push_back(last);
  RC_ASSERT(DecodeList(list).value() == all);
}

// protobuf can read the layout that is written and read in place.
RC_GTEST_PROP(ChunkFormatProperty, ProtobufReadsTheSameValues, ()) {
  const ChunkHeader header = ArbitraryHeader();
  const auto payload = *rc::gen::arbitrary<std::string>();
  wire::Frame parsed;
  RC_ASSERT(parsed.ParseFromString(EncodeChunk(header, payload)));
  RC_ASSERT(parsed.has_chunk());
  const wire::Chunk& chunk = parsed.chunk();
  RC_ASSERT(chunk.kind() == static_cast<int>(header.kind));
  RC_ASSERT(chunk.phase() == static_cast<int>(header.phase));
  RC_ASSERT(chunk.rank() == header.rank);
  RC_ASSERT(chunk.index() == header.index);
  RC_ASSERT(chunk.request_bits() == header.request_bits);
  RC_ASSERT(chunk.generation() == header.generation);
  RC_ASSERT(chunk.step() == header.step);
  RC_ASSERT(chunk.correct() == header.correct);
  RC_ASSERT(chunk.samples() == header.samples);
  RC_ASSERT(chunk.payload() == payload);
}

TEST(ChunkFormatTest, PayloadsAreAlignedForFloats) {
  EXPECT_EQ(kChunkHeaderBytes % 16, 0u);
}

TEST(ChunkFormatTest, ListIsTheSameOfAnyTexts) {
  const std::vector<std::string> items = {"one", "", "three"};
  EXPECT_EQ(EncodeList({"one", "", "three"}), EncodeList(items));
}

TEST(ChunkFormatTest, PayloadStaysUnderAnotherHeader) {
  Frame frame = EncodeChunk({.kind = ChunkKind::kPartial}, "payload");
  frame += " and more";
  const ChunkHeader header = {
      .kind = ChunkKind::kTotal, .rank = 3, .samples = 4};
  SetHeader(header, frame);
  EXPECT_EQ(frame, EncodeChunk(header, "payload and more"));
}

TEST(ChunkFormatTest, FloatsOfChunk_AreChangedInPlace) {
  const float values[] = {1.0f, 2.0f};
  Frame frame =
      EncodeChunk({.kind = ChunkKind::kPartial},
                  {reinterpret_cast<const char*>(values), sizeof values});
  const std::span<float> floats = FloatsOfChunk(frame);
  ASSERT_EQ(floats.size(), 2u);
  EXPECT_EQ(floats[1], 2.0f);
  floats[0] = 5.0f;
  float first = 0;
  std::memcpy(&first, ChunkPayload(frame).data(), sizeof first);
  EXPECT_EQ(first, 5.0f);
}

TEST(ChunkFormatTest, EveryTruncationIsRefused) {
  const Frame frame = EncodeChunk({.kind = ChunkKind::kPartial}, "payload");
  for (size_t size = 0; size < frame.size(); ++size) {
    EXPECT_EQ(DecodeChunk(frame.substr(0, size)).status().code(),
              Code::kDataLoss);
  }
}

}  // namespace
}  // namespace gauntlet
