#include "reports/html/difference_table.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "engine/text/counted.h"
#include "harness/record/text/value_text.h"
#include "reports/html/page/text.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace gauntlet {
namespace {

constexpr size_t kLongestTensorName = 200;

std::string Name(std::string_view name) {
  return HtmlText(name, kLongestTensorName);
}

std::string Value(const std::string& decimal, const std::string& bits) {
  return fmt::format("<td><code>{}</code></td>",
                     HtmlText(ValueText(decimal, bits), kLongestTensorName));
}

std::string Ulps(const std::optional<uint64_t>& ulps) {
  return fmt::format("<td class=\"number\">{}</td>",
                     ulps ? GroupedDigits(*ulps) : "–");
}

// Returns a row that names a tensor, with one remark across the other cells.
std::string Remark(std::string_view name, std::string_view text) {
  return fmt::format(
      "<tr><th scope=\"row\"><code>{}</code></th><td colspan=\"4\" "
      "class=\"muted\">{}</td></tr>\n",
      name, text);
}

std::string Table(const std::string& caption, std::string_view first_columns,
                  const std::string& rows) {
  return fmt::format(
      "<p class=\"muted\">{}</p>\n"
      "<div class=\"scroll values\" tabindex=\"0\" role=\"group\" "
      "aria-label=\"differing values\"><table "
      "class=\"differences\">\n<thead><tr>{}<th scope=\"col\">Found</th>"
      "<th scope=\"col\">Expected</th><th scope=\"col\" class=\"number\">"
      "Distance in ulps</th></tr></thead>\n<tbody>\n{}</tbody></table></div>\n",
      caption, first_columns, rows);
}

// Number of values shown for the samples of a batch. A few suffice: if the
// samples differ, the distances of their values mean nothing.
constexpr size_t kShownOfSamples = 5;

// Returns true iff the tensor has the samples of a batch. In results of earlier
// versions, its name says "rows".
bool IsOfSamples(std::string_view tensor) {
  return tensor == "samples of the batch" || tensor == "rows of the batch";
}

std::string ElementRows(const DifferingTensor& tensor) {
  const std::string name = Name(tensor.name);
  if (!tensor.mismatch.empty()) {
    return Remark(name, HtmlText("other type or shape: " + tensor.mismatch));
  }
  std::string rows;
  const bool is_data = IsOfSamples(tensor.name);
  const size_t shown = is_data ? std::min(tensor.first.size(), kShownOfSamples)
                               : tensor.first.size();
  for (const DifferingElement& element : std::span(tensor.first).first(shown)) {
    rows += fmt::format(
        "<tr><th scope=\"row\"><code>{}</code></th><td>{}</td>{}{}{}</tr>\n",
        name, element.index.empty() ? "scalar" : Name(element.index),
        Value(element.found, element.found_bits),
        Value(element.expected, element.expected_bits),
        Ulps(is_data ? std::nullopt : element.ulps));
  }
  if (tensor.differing > shown) {
    rows += Remark(name, fmt::format("{}{} of {} differ",
                                     tensor.first.empty() ? "" : "in all ",
                                     GroupedDigits(tensor.differing),
                                     GroupedCount(tensor.elements, "element")));
  }
  return rows;
}

std::string CaptionOf(const StateDifference& difference) {
  std::string text = HtmlText(difference.place);
  if (!difference.operation.empty()) {
    text +=
        fmt::format(", operation <code>{}</code>", Name(difference.operation));
  }
  if (difference.replica >= 0) {
    text += fmt::format(", replica {}", difference.replica);
  }
  text += fmt::format(", worker {}", difference.worker);
  if (difference.compared > 1) {
    text += fmt::format(": {} of {} state entries differ",
                        GroupedDigits(difference.differing),
                        GroupedDigits(difference.compared));
  }
  text += AlikeText(difference);
  return text;
}

std::string StateTable(const StateDifference& difference) {
  std::string rows;
  for (const DifferingTensor& tensor : difference.tensors) {
    rows += ElementRows(tensor);
  }
  if (difference.differing > difference.tensors.size()) {
    rows += fmt::format(
        "<tr><td colspan=\"5\" class=\"muted\">{} not listed</td></tr>\n",
        GroupedCount(difference.differing - difference.tensors.size(),
                     "further difference"));
  }
  return Table(
      CaptionOf(difference),
      fmt::format("<th scope=\"col\">{}</th>"
                  "<th scope=\"col\">Element</th>",
                  difference.operation.empty() ? "State entry" : "Output"),
      rows);
}

std::string LossTable(const LossDifferences& losses) {
  std::string rows;
  for (const LossDifference& loss : losses.first) {
    rows += fmt::format(
        "<tr><th scope=\"row\">{}</th><td>worker {}, incarnation {}</td>"
        "{}{}{}</tr>\n",
        Name(loss.place), loss.worker, loss.incarnation,
        Value(loss.found, loss.found_bits),
        Value(loss.expected, loss.expected_bits), Ulps(loss.ulps));
  }
  return Table(
      fmt::format(
          "losses of steps, evaluations and epochs: {} of {} differ from the "
          "reference run's (equal losses of a step count once){}",
          GroupedDigits(losses.differing), GroupedDigits(losses.compared),
          losses.differing > losses.first.size()
              ? fmt::format("; the first {} are listed", losses.first.size())
              : ""),
      "<th scope=\"col\">Loss of</th><th scope=\"col\">Reported by</th>", rows);
}

// Returns a note for a real run. Its operations cannot be observed, so the
// states come from a repetition in the simulated world.
std::string WorldNote(const CaseResult& result) {
  if (result.world != "real" || result.differences.empty()) return "";
  return fmt::format(
      "<p class=\"muted\">States and outputs are those of a repetition of the "
      "case in the simulated world.{}</p>\n",
      result.losses.differing > 0 ? " Losses are those of this run." : "");
}

}  // namespace

std::string RenderDifferences(const CaseResult& result) {
  std::string tables;
  for (const StateDifference& difference : result.differences) {
    tables += StateTable(difference);
  }
  if (result.losses.differing > 0) tables += LossTable(result.losses);
  if (tables.empty()) return "";
  return "<h4>Differences from the reference run</h4>\n" + WorldNote(result) +
         tables;
}

}  // namespace gauntlet
