// Formats text of results and records for an HTML page.
#ifndef GAUNTLET_REPORTS_HTML_PAGE_TEXT_H_
#define GAUNTLET_REPORTS_HTML_PAGE_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gauntlet {

inline constexpr size_t kLongestHtmlText = 2000;

// Returns text for an attribute or between tags, on one line. Markup is
// escaped, and control characters become spaces. Bytes that are not UTF-8, and
// characters that change the writing direction, become U+FFFD. Text of more
// than `most` bytes ends in "…".
std::string HtmlText(std::string_view text, size_t most = kLongestHtmlText);

// Returns a <text> element of a picture. `anchor` is "start", "middle" or
// "end": the part of the text that is at x.
std::string SvgLabel(double x, double y, std::string_view anchor,
                     std::string_view text);

// Returns text for people: HtmlText, in which `command` between backticks is
// shown as code.
std::string ProseHtml(std::string_view text);

// Returns JSON for a <script> element: no text in it can end the element.
std::string JsonInHtml(std::string json);

// Returns the text, cut to at most `most` bytes; a cut text ends in "…". Never
// splits a UTF-8 character.
std::string CutText(std::string_view text, size_t most);

// Returns "850 µs", "12.5 ms", "1.94 s" or "2 min 5 s".
std::string DurationText(int64_t ns);

// Returns "100,000".
std::string GroupedDigits(uint64_t number);
// Returns "100,000 cases".
std::string GroupedCount(uint64_t count, std::string_view noun);

}  // namespace gauntlet

#endif  // GAUNTLET_REPORTS_HTML_PAGE_TEXT_H_
