// Colour and animation on terminals, and plain text elsewhere.
#ifndef GAUNTLET_ENGINE_CLI_TERMINAL_TERMINAL_STYLE_H_
#define GAUNTLET_ENGINE_CLI_TERMINAL_TERMINAL_STYLE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gauntlet {

// Values of --color. kAuto: on if the stream is a terminal, TERM is not "dumb"
// and NO_COLOR is unset or empty (no-color.org).
enum class ColorChoice : uint8_t { kAuto, kOn, kOff };
std::optional<ColorChoice> FindColorChoice(std::string_view name);

// Properties of the terminal or file that one output stream writes to.
struct TerminalFacts {
  bool is_terminal = false;
  bool no_color = false;  // NO_COLOR is set and not empty
  bool is_dumb = false;   // TERM is "dumb" or unset
  bool utf8 = false;      // the locale's encoding is UTF-8
  int columns = 80;
};

enum class Ink : uint8_t { kGood, kBad, kWarning, kFaint, kStrong };

class TerminalStyle {
 public:
  TerminalStyle(ColorChoice choice, const TerminalFacts& facts);
  // Returns the text in the colour of `ink`; unchanged if colour is off.
  std::string Paint(Ink ink, std::string_view text) const;
  bool is_terminal() const { return is_terminal_; }
  // Returns true iff Paint adds colour.
  bool colored() const { return colored_; }
  // Returns true iff lines may be rewritten in place.
  bool animates() const { return animates_; }
  bool utf8() const { return utf8_; }
  int columns() const { return columns_; }
  // Returns the column at which to wrap sentences; 0 if the stream is not a
  // terminal, so that lines may have any length.
  size_t wrap_columns() const {
    return is_terminal_ ? static_cast<size_t>(columns_) : 0;
  }

 private:
  bool is_terminal_;
  bool colored_;
  bool animates_;
  bool utf8_;
  int columns_;
};

}  // namespace gauntlet

#endif  // GAUNTLET_ENGINE_CLI_TERMINAL_TERMINAL_STYLE_H_
