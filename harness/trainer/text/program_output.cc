#include "harness/trainer/text/program_output.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <deque>
#include <regex>
#include <utility>

#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr size_t kMostLine = 300;
// Limit on the searched part of a line, as std::regex recurses once per
// character.
constexpr size_t kMostSearched = 4096;

template <typename Visit>
void ForEachLine(std::string_view text, const Visit& visit) {
  while (!text.empty()) {
    const size_t end = text.find_first_of("\n\r");
    if (!visit(text.substr(0, end))) return;
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

std::string Cleaned(std::string_view line) {
  std::string text(line.substr(0, kMostLine));
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return text;
}

bool IsBlank(std::string_view line) {
  return line.find_first_not_of(" \t") == std::string_view::npos;
}

// Returns the prefix "[rank1]: ", which PyTorch puts before each line of a
// traceback; "" if there is none.
std::string_view RankPrefix(std::string_view line) {
  constexpr std::string_view kBegin = "[rank";
  constexpr std::string_view kEnd = "]: ";
  const size_t end = line.find(kEnd);
  if (!line.starts_with(kBegin) || end == line.npos) return "";
  return line.substr(0, end + kEnd.size());
}

// If the output ends with torchrun's summary, returns the part up to the last
// exception of a rank; else returns all.
std::string_view WithoutSummary(std::string_view output) {
  if (output.find("ChildFailedError") == output.npos) return output;
  size_t length = output.size();
  ForEachLine(output, [&](std::string_view line) {
    const std::string_view text = line.substr(RankPrefix(line).size());
    const bool is_message = text.size() < line.size() && !text.empty() &&
                            text.front() != ' ' &&
                            !text.starts_with("Traceback");
    if (is_message)
      length = static_cast<size_t>(line.data() - output.data()) + line.size();
    return true;
  });
  return output.substr(0, length);
}

}  // namespace

std::vector<std::string> LastLines(std::string_view output, size_t most) {
  output = WithoutSummary(output);
  std::deque<std::string_view> lines;
  ForEachLine(output, [&](std::string_view line) {
    if (IsBlank(line)) return true;
    lines.push_back(line);
    if (lines.size() > most) lines.pop_front();
    return true;
  });
  std::vector<std::string> texts;
  std::ranges::transform(lines, std::back_inserter(texts), Cleaned);
  return texts;
}

std::string LastLine(std::string_view output) {
  std::vector<std::string> last = LastLines(output, 1);
  if (last.empty()) return "";
  return last.front().erase(0, RankPrefix(last.front()).size());
}

bool EndsInException(std::string_view output) {
  // A Python traceback has two or three lines for each call.
  constexpr size_t kEnd = 60;
  constexpr std::array<std::string_view, 5> kMarks = {
      "Traceback (most recent call last)", "terminate called", "panicked at",
      "Aborted", "Segmentation fault"};
  return std::ranges::any_of(LastLines(output, kEnd), [&](const auto& line) {
    return std::ranges::any_of(kMarks, [&](std::string_view mark) {
      return line.find(mark) != std::string::npos;
    });
  });
}

struct StepPattern::Compiled {
  std::string text;
  std::regex expression;
};

StepPattern::StepPattern(std::shared_ptr<const Compiled> compiled)
    : compiled_(std::move(compiled)) {}

Result<StepPattern> StepPattern::Parse(const std::string& expression) {
  try {
    auto compiled = std::make_shared<Compiled>();
    compiled->text = expression;
    compiled->expression =
        std::regex(expression, std::regex::ECMAScript | std::regex::optimize);
    if (compiled->expression.mark_count() == 1) return StepPattern(compiled);
    return InvalidArgument(fmt::format(
        "expected an expression with one group, such as 'from step (\\d+)', "
        "found {} groups",
        compiled->expression.mark_count()));
  } catch (const std::regex_error& error) {
    return InvalidArgument(fmt::format(
        "expected a regular expression with one group: {}", error.what()));
  }
}

const std::string& StepPattern::text() const { return compiled_->text; }

std::optional<int64_t> StepPattern::Find(std::string_view output) const {
  std::optional<int64_t> step;
  ForEachLine(output, [&](std::string_view line) {
    std::cmatch match;
    line = line.substr(0, kMostSearched);
    if (!std::regex_search(line.data(), line.data() + line.size(), match,
                           compiled_->expression)) {
      return true;
    }
    int64_t value = 0;
    const auto [end, error] =
        std::from_chars(match[1].first, match[1].second, value);
    if (error == std::errc() && end == match[1].second) step = value;
    return !step.has_value();
  });
  return step;
}

}  // namespace gauntlet
