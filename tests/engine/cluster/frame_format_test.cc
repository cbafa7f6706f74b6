// Frames and lists: round trips, and bytes that are not ours.
#include "engine/cluster/frame_format.h"

#include <cstring>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "engine/cluster/link.pb.h"

namespace gauntlet {
namespace {

FrameHeader ArbitraryHeader() {
  return {.kind = static_cast<FrameKind>(*rc::gen::inRange(1, 6)),
          .phase = static_cast<Phase>(*rc::gen::inRange(0, 3)),
          .rank = *rc::gen::arbitrary<uint32_t>(),
          .chunk = *rc::gen::arbitrary<uint32_t>(),
          .requests = *rc::gen::arbitrary<uint32_t>(),
          .generation = *rc::gen::arbitrary<uint64_t>(),
          .step = *rc::gen::arbitrary<uint64_t>(),
          .correct = *rc::gen::arbitrary<int64_t>(),
          .rows = *rc::gen::arbitrary<int64_t>()};
}

RC_GTEST_PROP(FrameFormatProperty, HeadersComeBackAsTheyWere, ()) {
  const FrameHeader header = ArbitraryHeader();
  const auto payload = *rc::gen::arbitrary<std::string>();
  const Frame frame = EncodeFrame(header, payload);
  const Result<FrameHeader> back = DecodeFrame(frame);
  RC_ASSERT(back.ok());
  RC_ASSERT(EncodeFrame(*back, FramePayload(frame)) == frame);
}

RC_GTEST_PROP(FrameFormatProperty, NoBytesCrashTheReaders, ()) {
  const auto bytes = *rc::gen::arbitrary<std::string>();
  RC_ASSERT(DecodeFrame(bytes).status().code() == Code::kDataLoss);
  const Result<std::vector<std::string>> list = DecodeList(bytes);
  RC_ASSERT(SizeOfList(bytes).ok() == list.ok());
  if (list.ok()) RC_ASSERT(EncodeList(*list) == bytes);
}

RC_GTEST_PROP(FrameFormatProperty, ListsAreCountedAndGrowAsTheyLie,
              (const std::vector<std::string>& items,
               const std::string& last)) {
  std::string list = EncodeList(items);
  RC_ASSERT(SizeOfList(list).value() == items.size());
  AppendToList(last, list);
  std::vector<std::string> all = items;
  all.push_back(last);
  RC_ASSERT(DecodeList(list).value() == all);
}

// The layout that is written and read in place is one that protobuf reads.
RC_GTEST_PROP(FrameFormatProperty, ProtobufReadsTheSameValues, ()) {
  const FrameHeader header = ArbitraryHeader();
  const auto payload = *rc::gen::arbitrary<std::string>();
  wire::Frame parsed;
  RC_ASSERT(parsed.ParseFromString(EncodeFrame(header, payload)));
  RC_ASSERT(parsed.has_chunk());
  const wire::Chunk& chunk = parsed.chunk();
  RC_ASSERT(chunk.kind() == static_cast<int>(header.kind));
  RC_ASSERT(chunk.phase() == static_cast<int>(header.phase));
  RC_ASSERT(chunk.rank() == header.rank);
  RC_ASSERT(chunk.chunk() == header.chunk);
  RC_ASSERT(chunk.requests() == header.requests);
  RC_ASSERT(chunk.generation() == header.generation);
  RC_ASSERT(chunk.step() == header.step);
  RC_ASSERT(chunk.correct() == header.correct);
  RC_ASSERT(chunk.rows() == header.rows);
  RC_ASSERT(chunk.payload() == payload);
}

TEST(FrameFormatTest, PayloadsAreAlignedForFloats) {
  EXPECT_EQ(kFrameHeaderBytes % 16, 0u);
}

TEST(FrameFormatTest, AListIsTheSameOfAnyTexts) {
  const std::vector<std::string> items = {"one", "", "three"};
  EXPECT_EQ(EncodeList({"one", "", "three"}), EncodeList(items));
}

TEST(FrameFormatTest, APayloadStaysUnderAnotherHeader) {
  Frame frame = EncodeFrame({.kind = FrameKind::kPartial}, "payload");
  frame += " and more";
  const FrameHeader header = {.kind = FrameKind::kTotal, .rank = 3, .rows = 4};
  SetHeader(header, frame);
  EXPECT_EQ(frame, EncodeFrame(header, "payload and more"));
}

TEST(FrameFormatTest, AFrameOfFloatsIsComputedWithWhereItLies) {
  const float values[] = {1.0f, 2.0f};
  Frame frame =
      EncodeFrame({.kind = FrameKind::kPartial},
                  {reinterpret_cast<const char*>(values), sizeof values});
  const std::span<float> floats = FrameFloats(frame);
  ASSERT_EQ(floats.size(), 2u);
  EXPECT_EQ(floats[1], 2.0f);
  floats[0] = 5.0f;
  float first = 0;
  std::memcpy(&first, FramePayload(frame).data(), sizeof first);
  EXPECT_EQ(first, 5.0f);
}

TEST(FrameFormatTest, EveryTruncationIsRefused) {
  const Frame frame = EncodeFrame({.kind = FrameKind::kPartial}, "payload");
  for (size_t size = 0; size < frame.size(); ++size) {
    EXPECT_EQ(DecodeFrame(frame.substr(0, size)).status().code(),
              Code::kDataLoss);
  }
}

}  // namespace
}  // namespace gauntlet
