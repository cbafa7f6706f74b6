#include "harness/run/executor/event_conversion.h"

#include <utility>

#include <gtest/gtest.h>

namespace gauntlet {
namespace {

constexpr Time kSomeTime = Time(Duration(1834));

TEST(EventConversionTest, EveryKindKeepsItsName) {
  for (int kind = 0; kind <= static_cast<int>(EventKind::kStartTimes); ++kind) {
    const auto event_kind = static_cast<EventKind>(kind);
    EXPECT_EQ(
        RecordKindName(ToRecordEvent({.kind = event_kind}, kSomeTime).kind),
        EventKindName(event_kind));
  }
  EXPECT_EQ(static_cast<int>(RecordKind::kStartTimes),
            static_cast<int>(EventKind::kStartTimes));
}

TEST(EventConversionTest, EveryPhaseKeepsItsName) {
  for (const Phase phase :
       {Phase::kInEpoch, Phase::kEvaluationDue, Phase::kCallbacksDue}) {
    EXPECT_EQ(RecordPhaseName(ToRecordEvent({.phase = phase}, kSomeTime).phase),
              PhaseName(phase));
  }
}

TEST(EventConversionTest, EveryFieldComesAlong) {
  const Digest digest = DigestOf("x");
  LogEvent event = {.kind = EventKind::kStep,
                    .generation = 1,
                    .step = 2,
                    .epoch = 3,
                    .position = 4,
                    .phase = Phase::kCallbacksDue,
                    .count = -5,
                    .loss_bits = 6,
                    .digest = digest,
                    .path = "p",
                    .detail = "d",
                    .samples = {7, 8},
                    .about = 9,
                    .incarnation = 10,
                    .reason = Reason::kDeadline,
                    .limit_ns = 11,
                    .parts = {{TimePart::kWrite, Duration(12)}},
                    .background = {{TimePart::kDigest, Duration(13)}}};
  const RecordEvent expected = {.kind = RecordKind::kStep,
                                .t_ns = 1834,
                                .generation = 1,
                                .step = 2,
                                .epoch = 3,
                                .position = 4,
                                .phase = RecordPhase::kCallbacksDue,
                                .count = -5,
                                .loss_bits = 6,
                                .digest = digest.ToString(),
                                .path = "p",
                                .detail = "d",
                                .samples = {7, 8},
                                .about = 9,
                                .incarnation = 10,
                                .reason = RecordReason::kDeadline,
                                .limit_ns = 11,
                                .parts = {{"write", 12}},
                                .background = {{"digest", 13}}};
  EXPECT_EQ(ToRecordEvent(std::move(event), kSomeTime), expected);
  EXPECT_EQ(ToRecordEvent({}, kSomeTime).digest, "");
}

}  // namespace
}  // namespace gauntlet
