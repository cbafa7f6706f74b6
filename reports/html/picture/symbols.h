// Symbols of the pictures and their meanings.
#ifndef GAUNTLET_REPORTS_HTML_PICTURE_SYMBOLS_H_
#define GAUNTLET_REPORTS_HTML_PICTURE_SYMBOLS_H_

#include <span>
#include <string>
#include <string_view>

#include "reports/html/picture/lanes.h"

namespace gauntlet {

struct PictureSymbol {
  std::string_view id;  // of the SVG element, drawn around 0,0
  std::string_view meaning;
  std::string_view svg;
  // CSS class of the <path> that pictures draw for the symbol; "": pictures
  // refer to the element `id` instead.
  std::string_view css_class = "";
};

inline constexpr std::string_view kCommittedSymbol = "m-committed";
inline constexpr std::string_view kInvalidSymbol = "m-invalid";
inline constexpr std::string_view kLostSymbol = "m-lost";
inline constexpr std::string_view kStartedSymbol = "m-started";
inline constexpr std::string_view kErrorSymbol = "m-error";
inline constexpr std::string_view kDiedSymbol = "m-died";
inline constexpr std::string_view kRunningSymbol = "m-running";

std::string_view SymbolOf(Mark mark);

// Returns all symbols, in the order of the legend.
std::span<const PictureSymbol> AllSymbols();

// Returns an invisible element that defines the symbols for all pictures of a
// page.
std::string SymbolDefinitions();

// Returns the meanings of the symbols that occur in `picture`, an SVG element.
std::string RenderLegend(std::string_view picture);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_HTML_PICTURE_SYMBOLS_H_
