#include "harness/cli/scenario/label_expression.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

namespace gauntlet {
namespace {

constexpr int kMaxDepth = 32;

enum class TokenKind : uint8_t {
  kEnd,
  kWord,      // and, or, not, a bracket or a label
  kLabel,     // a label in quotes, which are not part of the text
  kUnclosed,  // an opening quote without a closing one
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text = {};
  size_t column = 0;  // from 1
};

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) { Advance(); }

  Result<LabelMatcher> Parse() {
    ASSIGN_OR_RETURN(LabelMatcher matcher, Expression(0));
    if (token_.kind == TokenKind::kEnd) return matcher;
    const Status wrong = Expected("and, or or the end");
    if (token_.kind != TokenKind::kWord || token_.text == ")") return wrong;
    return InvalidArgument(wrong.message() +
                           "; a label of several words needs quotes: "
                           "\"several words\"");
  }

  // Labels parsed so far, in order.
  const std::vector<std::string>& labels() const { return labels_; }

 private:
  void Advance() {
    const size_t begin = text_.find_first_not_of(" \t\n", at_);
    if (begin == text_.npos) return EndWith(TokenKind::kEnd);
    const char first = text_[begin];
    if (first == '"' || first == '\'') {
      const size_t close = text_.find(first, begin + 1);
      if (close == text_.npos) return EndWith(TokenKind::kUnclosed);
      token_ = {.kind = TokenKind::kLabel,
                .text = text_.substr(begin + 1, close - begin - 1),
                .column = begin + 1};
      at_ = close + 1;
      return;
    }
    const bool is_bracket = first == '(' || first == ')';
    const size_t end =
        is_bracket
            ? begin + 1
            : std::min(text_.find_first_of(" \t\n()", begin), text_.size());
    token_ = {.kind = TokenKind::kWord,
              .text = text_.substr(begin, end - begin),
              .column = begin + 1};
    at_ = end;
  }

  // Makes a token after the last character.
  void EndWith(TokenKind kind) {
    token_ = {.kind = kind, .column = text_.size() + 1};
    at_ = text_.size();
  }

  bool Take(std::string_view wanted) {
    if (token_.kind != TokenKind::kWord || token_.text != wanted) return false;
    Advance();
    return true;
  }

  Status Expected(std::string_view what) const {
    if (token_.kind == TokenKind::kUnclosed) what = "a closing quote";
    return InvalidArgument(
        fmt::format("expected {} at character {} of '{}', found {}", what,
                    token_.column, text_.substr(0, 80),
                    token_.column > text_.size()
                        ? "the end"
                        : fmt::format("'{}'", token_.text.substr(0, 40))));
  }

  Result<LabelMatcher> Expression(int depth) {
    ASSIGN_OR_RETURN(LabelMatcher left, Term(depth));
    while (Take("or")) {
      ASSIGN_OR_RETURN(LabelMatcher right, Term(depth));
      left = [a = std::move(left), b = std::move(right)](const auto& labels) {
        return a(labels) || b(labels);
      };
    }
    return left;
  }

  Result<LabelMatcher> Term(int depth) {
    ASSIGN_OR_RETURN(LabelMatcher left, Factor(depth));
    while (Take("and")) {
      ASSIGN_OR_RETURN(LabelMatcher right, Factor(depth));
      left = [a = std::move(left), b = std::move(right)](const auto& labels) {
        return a(labels) && b(labels);
      };
    }
    return left;
  }

  Result<LabelMatcher> Factor(int depth) {
    if (depth > kMaxDepth) return Expected("at most 32 levels");
    if (Take("not")) {
      ASSIGN_OR_RETURN(LabelMatcher inner, Factor(depth + 1));
      return LabelMatcher(
          [a = std::move(inner)](const auto& labels) { return !a(labels); });
    }
    if (Take("(")) {
      ASSIGN_OR_RETURN(LabelMatcher inner, Expression(depth + 1));
      if (!Take(")")) return Expected("')'");
      return inner;
    }
    const bool is_label =
        token_.kind == TokenKind::kLabel ||
        (token_.kind == TokenKind::kWord && token_.text != "and" &&
         token_.text != "or" && token_.text != ")");
    if (!is_label) return Expected("a label");
    const std::string label(token_.text);
    Advance();
    labels_.push_back(label);
    return LabelMatcher([label](const std::vector<std::string>& labels) {
      return std::ranges::find(labels, label) != labels.end();
    });
  }

  std::string_view text_;
  size_t at_ = 0;
  Token token_;
  std::vector<std::string> labels_;
};

}  // namespace

Result<LabelMatcher> ParseLabelExpression(std::string_view text) {
  return Parser(text).Parse();
}

std::vector<std::string> LabelsIn(std::string_view expression) {
  Parser parser(expression);
  static_cast<void>(parser.Parse());
  return parser.labels();
}

}  // namespace gauntlet
