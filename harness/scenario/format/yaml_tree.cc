#include "harness/scenario/format/yaml_tree.h"

#include <map>
#include <optional>
#include <sstream>

#include "engine/utf8.h"
#include "harness/scenario/format/yaml_mistakes.h"
#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

namespace gauntlet {
namespace {

Place PlaceOf(const YAML::Mark& mark) {
  if (mark.is_null()) return {};
  return {static_cast<size_t>(mark.line) + 1,
          static_cast<size_t>(mark.column) + 1};
}

// Thrown from yaml-cpp's callbacks after an error. This file catches it.
struct Refusal {
  Diagnostic diagnostic;
};

[[noreturn]] void Refuse(const YAML::Mark& mark, std::string message,
                         std::string hint = "") {
  throw Refusal{{PlaceOf(mark), std::move(message), std::move(hint)}};
}

// Builds the tree of a document from the parser's events.
class TreeBuilder final : public YAML::EventHandler {
 public:
  explicit TreeBuilder(std::string_view text) : text_(text) {}

  YamlNode Take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    // If a character can begin nothing (such as a ',' outside brackets), the
    // parser reports empty documents at this place forever.
    if (mark.pos <= last_start_) {
      Refuse(mark, "not YAML: no key, value or document begins here");
    }
    last_start_ = mark.pos;
    root_ = YamlNode{};
    root_.place = PlaceOf(mark);
  }
  void OnDocumentEnd() override {}

  void OnAnchor(const YAML::Mark& mark, const std::string& name) override {
    Refuse(mark, fmt::format("anchors ('&{}') are not part of scenarios", name),
           "use `preset:` and `matrix:` instead");
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    Refuse(mark, "aliases ('*name') are not part of scenarios",
           "use `preset:` and `matrix:` instead");
  }
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
    Add(mark, {.kind = YamlKind::kNothing, .place = PlaceOf(mark)});
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                const std::string& value) override {
    CheckTag(mark, tag);
    if (tag == "!" && IsQuoteOpen(text_, PlaceOf(mark))) {
      Refuse(mark, "the quote is not closed",
             "expected a second one after the value");
    }
    Add(mark, {.kind = YamlKind::kScalar,
               .place = PlaceOf(mark),
               .scalar = value,
               .quoted = tag == "!"});
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag,
                       YAML::anchor_t,
                       YAML::EmitterStyle::value style) override {
    CheckTag(mark, tag);
    Open(mark, YamlKind::kList, style);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag,
                  YAML::anchor_t, YAML::EmitterStyle::value style) override {
    CheckTag(mark, tag);
    Open(mark, YamlKind::kMap, style);
  }
  void OnMapEnd() override { Close(); }

 private:
  // A collection that is still open.
  struct Level {
    YamlNode node;
    YAML::Mark mark;
    std::optional<YamlEntry> pending;    // a key without its value yet
    std::map<std::string, size_t> keys;  // with the numbers of their lines
  };

  static void CheckTag(const YAML::Mark& mark, const std::string& tag) {
    // The parser's tag is "?" for a plain scalar or a collection, "!" for a
    // quoted scalar.
    if (tag.empty() || tag == "?" || tag == "!") return;
    Refuse(mark, fmt::format("tags ('{}') are not part of scenarios", tag));
  }

  void Open(const YAML::Mark& mark, YamlKind kind,
            YAML::EmitterStyle::value style) {
    if (levels_.size() >= static_cast<size_t>(kMaxYamlDepth)) {
      Refuse(mark, fmt::format("nested deeper than {} levels", kMaxYamlDepth));
    }
    levels_.push_back({.node = {.kind = kind,
                                .place = PlaceOf(mark),
                                .in_braces = style == YAML::EmitterStyle::Flow},
                       .mark = mark,
                       .pending = std::nullopt,
                       .keys = {}});
  }

  void Close() {
    Level level = std::move(levels_.back());
    levels_.pop_back();
    Add(level.mark, std::move(level.node));
  }

  void Add(const YAML::Mark& mark, YamlNode node) {
    if (levels_.empty()) {
      root_ = std::move(node);
      return;
    }
    Level& level = levels_.back();
    if (level.node.kind == YamlKind::kList) {
      level.node.items.push_back(std::move(node));
    } else if (level.pending) {
      // For a missing value, the parser reports the place of the text after it.
      // Use the place of the key.
      if (node.kind == YamlKind::kNothing) node.place = level.pending->place;
      level.pending->value = std::move(node);
      level.node.entries.push_back(*std::move(level.pending));
      level.pending.reset();
    } else {
      AddKey(mark, level, node);
    }
  }

  static void AddKey(const YAML::Mark& mark, Level& level,
                     const YamlNode& node) {
    if (node.kind != YamlKind::kScalar) {
      Refuse(mark, fmt::format("expected a name as the key, found {}",
                               DescribeYaml(node)));
    }
    if (node.scalar == "<<") {
      Refuse(mark, "merge keys ('<<') are not part of scenarios",
             "use `preset:` and `matrix:` instead");
    }
    const auto [first, inserted] =
        level.keys.try_emplace(node.scalar, node.place.line);
    if (!inserted) {
      Refuse(mark,
             fmt::format("duplicate key {}, first in line {}",
                         ShortQuote(node.scalar), first->second),
             "remove one of the two");
    }
    level.pending = YamlEntry{node.scalar, node.place, {}};
  }

  std::string_view text_;
  YamlNode root_;
  std::vector<Level> levels_;
  int last_start_ = -1;  // position of a document, in characters
};

// Counts brackets before the text is parsed, because the parser recurses for
// each. Also counts brackets in quotes: no sensible text has 32 open ones
// there.
std::optional<Diagnostic> ScanText(std::string_view text) {
  Place place;
  int depth = 0;
  bool comment = false;
  char before = '\n';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n' && c != '\r' && c != '\t') || byte == 0x7f) {
      return Diagnostic{
          place,
          fmt::format("control character 0x{:02x}: expected a text file", byte),
          ""};
    }
    if (c == '#' && (before == ' ' || before == '\n' || before == '\t')) {
      comment = true;
    }
    if (!comment && (c == '[' || c == '{')) ++depth;
    if (!comment && (c == ']' || c == '}') && depth > 0) --depth;
    if (depth > kMaxYamlDepth) {
      return Diagnostic{
          place, fmt::format("nested deeper than {} levels", kMaxYamlDepth),
          ""};
    }
    ++place.column;
    if (c == '\n') {
      place = {place.line + 1, 1};
      comment = false;
    }
    before = c;
  }
  return std::nullopt;
}

}  // namespace

const YamlNode* YamlNode::Find(std::string_view key) const {
  for (const YamlEntry& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

std::vector<YamlNode> ParseYaml(std::string_view text,
                                Diagnostics& diagnostics) {
  std::vector<YamlNode> documents;
  if (text.size() > kMaxScenarioBytes) {
    diagnostics.Error({}, fmt::format("expected at most {} bytes, found {}",
                                      kMaxScenarioBytes, text.size()));
    return documents;
  }
  if (const auto refused = ScanText(text)) {
    diagnostics.Error(refused->place, refused->message, refused->hint);
    return documents;
  }
  std::istringstream stream{std::string(text)};
  try {
    YAML::Parser parser(stream);
    TreeBuilder builder(text);
    while (parser.HandleNextDocument(builder)) {
      documents.push_back(builder.Take());
    }
    while (documents.size() > 1 &&
           documents.back().kind == YamlKind::kNothing) {
      documents.pop_back();
    }
  } catch (const Refusal& refusal) {
    const Diagnostic& diagnostic = refusal.diagnostic;
    diagnostics.Error(diagnostic.place, diagnostic.message, diagnostic.hint);
  } catch (const YAML::Exception& error) {
    const Diagnostic mistake =
        ExplainYamlError(text, PlaceOf(error.mark), error.msg);
    diagnostics.Error(mistake.place, mistake.message, mistake.hint);
  }
  return documents;
}

std::string YamlToText(const YamlNode& node) {
  std::string text;
  switch (node.kind) {
    case YamlKind::kNothing:
      return "~";
    case YamlKind::kScalar:
      return node.scalar;
    case YamlKind::kList:
      for (const YamlNode& item : node.items) {
        text += (text.empty() ? "" : ", ") + YamlToText(item);
      }
      return "[" + text + "]";
    case YamlKind::kMap:
      for (const YamlEntry& entry : node.entries) {
        text += (text.empty() ? "" : ", ") + entry.key + ": " +
                YamlToText(entry.value);
      }
      return "{" + text + "}";
  }
  return text;
}

std::string ShortQuote(std::string_view text) {
  constexpr size_t kMostQuoted = 80;  // bytes
  const std::string_view shown = TruncateUtf8(text, kMostQuoted);
  return fmt::format("'{}{}'", shown, shown.size() < text.size() ? "…" : "");
}

std::string DescribeYaml(const YamlNode& node) {
  switch (node.kind) {
    case YamlKind::kNothing:
      return "nothing";
    case YamlKind::kScalar:
      return ShortQuote(node.scalar);
    case YamlKind::kList:
      return "a list";
    case YamlKind::kMap:
      return "a map";
  }
  return "";
}

}  // namespace gauntlet
