// Values as text: tensor values and losses as a decimal and its bits, digests,
// and times.
#ifndef GAUNTLET_HARNESS_RECORD_TEXT_VALUE_TEXT_H_
#define GAUNTLET_HARNESS_RECORD_TEXT_VALUE_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace gauntlet {

// Returns the shortest decimal that reads back as the float32: "2.3025851".
std::string DecimalOfFloat(uint32_t bits);
// Returns 8 hex digits: "40135d8e".
std::string HexOfFloat(uint32_t bits);

// Returns "1 (0x00000001)", for a value of any type.
std::string ValueText(std::string_view decimal, std::string_view hex);
// Returns "2.3025851 (0x40135d8e)".
std::string FloatText(uint32_t bits);

// Returns the text with only the first 8 of the 32 digits of each digest.
std::string ShortDigests(std::string_view text);

// Returns "1.204s".
std::string TimeSinceBegin(int64_t ns);

}  // namespace gauntlet

#endif  // GAUNTLET_HARNESS_RECORD_TEXT_VALUE_TEXT_H_
