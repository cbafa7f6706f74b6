#include "engine/data/digit_shapes.h"

#include <array>

#include "engine/check.h"
#include "engine/data/raw_samples.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr Pen kUp = Pen::kUp;

constexpr PenPoint kZero[] = {{0, -12, kUp}, {5, -9},  {7, -3}, {7, 3},
                              {5, 9},        {0, 12},  {-5, 9}, {-7, 3},
                              {-7, -3},      {-5, -9}, {0, -12}};
constexpr PenPoint kOneStroke[] = {{0, -12, kUp}, {0, 12}};
constexpr PenPoint kOneFlag[] = {{-4, -7, kUp}, {0, -12}, {0, 12}};
constexpr PenPoint kOneFoot[] = {
    {-4, -8, kUp}, {0, -12}, {0, 12}, {-5, 12, kUp}, {5, 12}};
constexpr PenPoint kTwoBent[] = {{-6, -7, kUp}, {-4, -11}, {0, -12}, {5, -10},
                                 {6, -5},       {3, 0},    {-6, 12}, {7, 12}};
constexpr PenPoint kTwoWave[] = {{-6, -8, kUp}, {0, -12}, {6, -7}, {0, 3},
                                 {-6, 11},      {-1, 9},  {7, 12}};
constexpr PenPoint kThreeRound[] = {{-6, -10, kUp}, {0, -12}, {5, -9},
                                    {4, -3},        {-1, -1}, {6, 3},
                                    {5, 9},         {0, 12},  {-6, 10}};
constexpr PenPoint kThreeFlat[] = {{-6, -12, kUp}, {6, -12}, {-1, -2}, {6, 3},
                                   {5, 9},         {0, 12},  {-6, 10}};
constexpr PenPoint kFourClosed[] = {{3, 12, kUp}, {3, -12}, {-7, 4}, {7, 4}};
constexpr PenPoint kFourOpen[] = {
    {-5, -12, kUp}, {-6, 2}, {6, 2}, {4, -8, kUp}, {4, 12}};
constexpr PenPoint kFive[] = {{6, -12, kUp}, {-5, -12}, {-6, -1}, {1, -3},
                              {6, 1},        {6, 7},    {1, 12},  {-6, 10}};
constexpr PenPoint kSix[] = {{5, -11, kUp}, {-1, -8}, {-6, 0}, {-6, 7},
                             {-2, 12},      {4, 11},  {6, 6},  {3, 1},
                             {-2, 1},       {-6, 5}};
constexpr PenPoint kSixStraight[] = {{3, -12, kUp}, {-5, 2}, {-6, 8}, {0, 12},
                                     {6, 8},        {4, 2},  {-5, 4}};
constexpr PenPoint kSeven[] = {{-6, -12, kUp}, {6, -12}, {-1, 12}};
constexpr PenPoint kSevenBar[] = {
    {-6, -12, kUp}, {6, -12}, {-1, 12}, {-4, 0, kUp}, {5, 0}};
constexpr PenPoint kEight[] = {
    {0, -1, kUp}, {-5, -5}, {-4, -10}, {0, -12}, {4, -10}, {5, -5}, {0, -1},
    {-6, 4},      {-5, 10}, {0, 12},   {5, 10},  {6, 4},   {0, -1}};
constexpr PenPoint kNine[] = {{-5, 11, kUp}, {1, 8},    {6, 0},   {6, -7},
                              {2, -12},      {-4, -11}, {-6, -6}, {-3, -1},
                              {2, -1},       {6, -5}};
constexpr PenPoint kNineStraight[] = {{5, -9, kUp}, {0, -12}, {-5, -8},
                                      {-4, -2},     {1, -1},  {5, -5},
                                      {5, -9},      {4, 12}};

constexpr DigitShape kZeros[] = {kZero};
constexpr DigitShape kOnes[] = {kOneStroke, kOneFlag, kOneFoot};
constexpr DigitShape kTwos[] = {kTwoBent, kTwoWave};
constexpr DigitShape kThrees[] = {kThreeRound, kThreeFlat};
constexpr DigitShape kFours[] = {kFourClosed, kFourOpen};
constexpr DigitShape kFives[] = {kFive};
constexpr DigitShape kSixes[] = {kSix, kSixStraight};
constexpr DigitShape kSevens[] = {kSeven, kSevenBar};
constexpr DigitShape kEights[] = {kEight};
constexpr DigitShape kNines[] = {kNine, kNineStraight};

constexpr std::array<std::span<const DigitShape>, kImageClasses> kShapes = {
    kZeros, kOnes,  kTwos,   kThrees, kFours,
    kFives, kSixes, kSevens, kEights, kNines};

}  // namespace

std::span<const DigitShape> ShapesOf(uint32_t digit) {
  CHECK(digit < kShapes.size(), fmt::format("digit {}", digit));
  return kShapes[digit];
}

}  // namespace gauntlet
