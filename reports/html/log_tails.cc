#include "reports/html/log_tails.h"

#include "engine/text/counted.h"
#include "reports/html/page/text.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr size_t kLongestLine = 300;
constexpr size_t kMostLogs = 16;

// Returns the last lines, without a first line that may be incomplete.
std::vector<std::string_view> LastLines(const LogTail& log) {
  std::string_view text = log.end;
  if (text.size() > kMostLogBytes) {
    text.remove_prefix(text.size() - kMostLogBytes);
  }
  const bool is_cut = text.size() < log.bytes;
  while (text.ends_with('\n')) text.remove_suffix(1);
  std::vector<std::string_view> lines;
  while (!text.empty() && lines.size() < kMostLogLines) {
    const size_t begin = text.rfind('\n');
    if (begin == text.npos) {
      if (!is_cut || lines.empty()) lines.push_back(text);
      break;
    }
    lines.push_back(text.substr(begin + 1));
    text = text.substr(0, begin);
  }
  return {lines.rbegin(), lines.rend()};
}

std::string RenderLog(const LogTail& log) {
  const std::vector<std::string_view> lines = LastLines(log);
  std::string out =
      fmt::format("<h5>{}: the last {} of {}</h5>\n<pre tabindex=\"0\">",
                  HtmlText(log.name), Counted(lines.size(), "line"),
                  GroupedCount(log.bytes, "byte"));
  for (const std::string_view line : lines) {
    out += HtmlText(line, kLongestLine) + "\n";
  }
  return out + "</pre>\n";
}

}  // namespace

std::string RenderLogTails(const std::vector<LogTail>& logs) {
  std::string tails;
  std::string empty;
  size_t shown = 0;
  size_t left_out = 0;
  for (const LogTail& log : logs) {
    if (log.bytes == 0) {
      empty += fmt::format("{}{}", empty.empty() ? "" : "; ", log.name);
    } else if (shown == kMostLogs) {
      ++left_out;
    } else {
      ++shown;
      tails += RenderLog(log);
    }
  }
  if (tails.empty() && empty.empty()) return "";
  std::string out = fmt::format(
      "<details class=\"logs\"><summary>Ends of the logs: {}</summary>\n{}",
      Counted(shown, "log"), tails);
  if (left_out > 0) {
    out += fmt::format("<p class=\"muted\">{} not shown.</p>\n",
                       GroupedCount(left_out, "further log"));
  }
  if (!empty.empty()) {
    out += fmt::format("<p class=\"muted\">Empty: {}.</p>\n", HtmlText(empty));
  }
  return out + "</details>\n";
}

}  // namespace gauntlet
