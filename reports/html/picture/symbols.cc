#include "reports/html/picture/symbols.h"

#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr PictureSymbol kSymbols[] = {
    {"m-new", "new steps", R"(<path class="new" d="M-9 0H9"/>)", "new"},
    {"m-again", "recomputed steps", R"(<path class="again" d="M-9 0H9"/>)",
     "again"},
    {kStartedSymbol, "save started", R"(<circle class="started" r="3.6"/>)"},
    {kCommittedSymbol, "checkpoint acknowledged",
     R"(<circle class="committed" r="4.2"/>)"},
    {kInvalidSymbol, "checkpoint acknowledged, but invalid",
     R"(<circle class="committed" r="4.2"/><path class="rejected" d="M-5.5 5.5L5.5 -5.5"/>)"},
    {kLostSymbol, "checkpoint acknowledged, but lost",
     R"(<circle class="lost" r="4.2"/><path class="rejected" d="M-5.5 5.5L5.5 -5.5"/>)"},
    {"m-fault", "fault", R"(<path class="fault" d="M-6 -5H6L0 6z"/>)"},
    {"m-notice", "preemption notice",
     R"(<path class="notice" d="M-4.5 -4.5h9v9h-9z"/>)"},
    {"m-detection", "failure detected",
     R"(<circle class="detection" r="4.4"/>)"},
    {"m-restart", "restart decided",
     R"(<path class="restart" d="M0 -6L6 0L0 6L-6 0z"/>)"},
    {"m-resume", "resumed", R"(<path class="resume" d="M-4 -6L6 0L-4 6z"/>)"},
    {"m-rejected", "save failed or checkpoint rejected",
     R"(<path class="rejected" d="M-4 -4L4 4M4 -4L-4 4"/>)"},
    {kErrorSymbol, "exit with an error",
     R"(<path class="dead" d="M0 -7V7M-3 0H0"/>)"},
    {kDiedSymbol, "process killed or crashed",
     R"(<path class="dead" d="M0 -7V7M-4 -3H4"/>)"},
    {kRunningSymbol, "still running when the run was ended",
     R"(<path class="running" d="M-6 -4L-2 0L-6 4M0 -4L4 0L0 4"/>)"},
};

bool OccursIn(const PictureSymbol& symbol, std::string_view picture) {
  const std::string use =
      symbol.css_class.empty()
          ? fmt::format("href=\"#{}\"", symbol.id)
          : fmt::format("<path class=\"{}\"", symbol.css_class);
  return picture.find(use) != picture.npos;
}

}  // namespace

std::string_view SymbolOf(Mark mark) {
  switch (mark) {
    case Mark::kFault:
      return "m-fault";
    case Mark::kNotice:
      return "m-notice";
    case Mark::kDetection:
      return "m-detection";
    case Mark::kRejected:
      return "m-rejected";
    case Mark::kRestart:
      return "m-restart";
    case Mark::kResume:
      return "m-resume";
  }
  return "";
}

std::span<const PictureSymbol> AllSymbols() { return kSymbols; }

std::string SymbolDefinitions() {
  std::string out =
      R"(<svg class="symbols" width="0" height="0" aria-hidden="true"><defs>)";
  for (const PictureSymbol& symbol : AllSymbols()) {
    out += fmt::format(R"(<g id="{}">{}</g>)", symbol.id, symbol.svg);
  }
  return out + "</defs></svg>\n";
}

std::string RenderLegend(std::string_view picture) {
  std::string out = R"(<ul class="legend" aria-label="legend">)";
  for (const PictureSymbol& symbol : AllSymbols()) {
    if (!OccursIn(symbol, picture)) continue;
    out += fmt::format(
        R"(<li><svg viewBox="-10 -8 20 16" aria-hidden="true"><use href="#{}"/></svg>{}</li>)",
        symbol.id, symbol.meaning);
  }
  return out + "</ul>\n";
}

}  // namespace gauntlet
