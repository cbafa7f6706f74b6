#include <string>
#include <vector>

#include "engine/text/counted.h"
#include "engine/utf8.h"
#include "harness/record/text/value_text.h"
#include "harness/results/comparison.h"
#include <fmt/format.h>

namespace gauntlet {
namespace {

// Returns "final.pt: tensor `fc.weight`"; only "final.pt" if the file is a
// single value without a name.
std::string PlaceOf(const ResultDifference& difference) {
  const std::string file = EscapeBytes(difference.file);
  if (difference.tensor.name.empty()) return file;
  return fmt::format("{}: tensor `{}`", file, difference.tensor.name);
}

std::string CountOf(const ResultDifference& difference, const char* unit) {
  return fmt::format("{} of {} {} differ", difference.tensor.differing,
                     difference.tensor.elements, unit);
}

// Describes a difference in length alone: the shorter of the two files is the
// beginning of the longer one.
std::string DescribeLength(const ResultDifference& difference) {
  const uint64_t found = difference.found_bytes;
  const uint64_t expected = difference.expected_bytes;
  if (found == 0) {
    return fmt::format("empty, expected {}", Counted(expected, "byte"));
  }
  if (expected == 0) {
    return fmt::format("{}, expected none", Counted(found, "byte"));
  }
  return found < expected
             ? fmt::format("ends after {} of {}, which are right", found,
                           Counted(expected, "byte"))
             : fmt::format("{} after the expected {}, which are right",
                           Counted(found - expected, "byte"), expected);
}

std::string DescribeLine(const ResultDifference& difference) {
  const DifferingLine& line = *difference.line;
  std::string text =
      fmt::format("{}: line {}: `{}` instead of `{}`", PlaceOf(difference),
                  line.number, line.found, line.expected);
  if (line.found_lines != line.expected_lines) {
    return text + fmt::format("; {} instead of {}",
                              Counted(line.found_lines, "line"),
                              line.expected_lines);
  }
  if (line.found_lines == 1) return text;
  return text + fmt::format("; {} of {} lines differ", line.differing,
                            line.found_lines);
}

std::string DescribeBytes(const ResultDifference& difference) {
  const DifferingElement& first = difference.tensor.first[0];
  if (first.found_bits.empty() || first.expected_bits.empty()) {
    return fmt::format("{}: {}", PlaceOf(difference),
                       DescribeLength(difference));
  }
  if (difference.line) return DescribeLine(difference);
  // Counted from 1, as by cmp.
  const uint64_t position = std::stoull(first.index.substr(1)) + 1;
  std::string text = fmt::format(
      "{}: byte {}: 0x{} instead of 0x{}; {}", PlaceOf(difference), position,
      first.found_bits, first.expected_bits, CountOf(difference, "bytes"));
  if (difference.found_bytes != difference.expected_bytes) {
    text += fmt::format(", {} bytes instead of {}", difference.found_bytes,
                        difference.expected_bytes);
  }
  return text;
}

std::string DescribeElements(const ResultDifference& difference) {
  const DifferingTensor& tensor = difference.tensor;
  const DifferingElement& first = tensor.first[0];
  std::string text = PlaceOf(difference);
  if (!first.index.empty()) {
    text +=
        fmt::format("{} element {}", difference.tensor.name.empty() ? ":" : ",",
                    first.index);
  }
  text += fmt::format(": {} instead of {}",
                      ValueText(first.found, first.found_bits),
                      ValueText(first.expected, first.expected_bits));
  if (!first.index.empty()) text += "; " + CountOf(difference, "elements");
  if (!difference.largest_ulps) return text;
  return text + fmt::format("{} by {}{} ulp", first.index.empty() ? ";" : ",",
                            tensor.differing > 1 ? "at most " : "",
                            *difference.largest_ulps);
}

std::string DescribeDifference(const ResultDifference& difference) {
  const DifferingTensor& tensor = difference.tensor;
  if (!tensor.mismatch.empty())
    return fmt::format("{}: {}", PlaceOf(difference), tensor.mismatch);
  const DifferingElement& first = tensor.first[0];
  const bool is_sequence =
      difference.found_bytes + difference.expected_bytes > 0;
  if (!is_sequence) return DescribeElements(difference);
  if (!first.index.empty()) return DescribeBytes(difference);
  return fmt::format("{}: {} instead of {}", PlaceOf(difference), first.found,
                     first.expected);
}

}  // namespace

std::vector<std::string> DescribeDifferences(
    const ResultComparison& comparison) {
  std::vector<std::string> lines;
  for (const std::string& file : comparison.missing)
    lines.push_back(EscapeBytes(file) + ": missing");
  for (const std::string& file : comparison.unexpected)
    lines.push_back(EscapeBytes(file) + ": not expected");
  for (const ResultDifference& difference : comparison.differences)
    lines.push_back(DescribeDifference(difference));
  const uint64_t more = comparison.differing - comparison.differences.size();
  if (more > 0) {
    lines.push_back(fmt::format("{} more {}", more,
                                more == 1 ? "difference" : "differences"));
  }
  return lines;
}

}  // namespace gauntlet
