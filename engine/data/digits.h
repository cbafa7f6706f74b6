// A data set that needs no download: grey images of the digits 0 to 9, drawn by
// the program.
//
// Uses integer arithmetic only, with random numbers from Philox keyed by
// (split, sample). So the bytes are the same on every machine, and a sample
// does not depend on the number of samples.
#ifndef GAUNTLET_ENGINE_DATA_DIGITS_H_
#define GAUNTLET_ENGINE_DATA_DIGITS_H_

#include <cstdint>

#include "engine/data/raw_samples.h"

namespace gauntlet {

struct DigitsSpec {
  DataPart split = DataPart::kTrain;
  uint32_t samples = 0;
  uint32_t side = 28;  // 28, or 7: the means of 4 x 4 blocks
};

RawSamples DrawDigits(const DigitsSpec& spec);

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_DATA_DIGITS_H_
