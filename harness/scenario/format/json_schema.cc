#include "chaos/inject/plan/plan.h"
#include "harness/scenario/format/keys.h"
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace gauntlet {
namespace {

using Json = nlohmann::ordered_json;

Json SchemaOfMap(std::string_view path);

Json Text(std::string_view pattern) {
  return Json{{"type", "string"}, {"pattern", pattern}};
}

Json Count(const KeySpec& key) {
  return Json{{"type", "integer"}, {"minimum", key.low}, {"maximum", key.high}};
}

Json Either(Json a, Json b) { return Json{{"oneOf", {a, b}}}; }

// Returns the schema of a duration. It also accepts 0 without a unit if the key
// has no lower bound.
Json DurationSchema(const KeySpec& key) {
  const Json duration = Text("^[0-9]+(\\.[0-9]+)?(ns|us|ms|s|m|h)$");
  return key.low > 0 ? duration : Either(duration, Json{{"const", 0}});
}

Json Choice(const KeySpec& key) {
  const std::vector<std::string> choices = ChoicesOf(key);
  if (choices.empty()) return Json{{"type", "string"}};
  return Json{{"enum", choices}};
}

Json ListOf(Json item) { return Json{{"type", "array"}, {"items", item}}; }

// Returns a schema that accepts {steps: n}, {epochs: n}, {seconds: n} or never.
Json Every(const KeySpec& key) {
  Json choices = Json::array({Json{{"const", "never"}}});
  for (const char* unit : {"steps", "epochs", "seconds"}) {
    choices.push_back(Json{{"type", "object"},
                           {"additionalProperties", false},
                           {"required", {unit}},
                           {"properties", {{unit, Count(key)}}}});
  }
  return Json{{"oneOf", choices}};
}

bool AcceptSameValues(Json a, Json b) {
  a.erase("description");
  b.erase("description");
  return a == b;
}

// Changes `schema` so that it also accepts the values that `other` accepts. A
// null `schema` accepts no value.
void Widen(Json& schema, const Json& other) {
  if (schema.is_null()) {
    schema = other;
    return;
  }
  Json all = schema.contains("anyOf") ? schema["anyOf"] : Json::array({schema});
  for (const Json& known : all) {
    if (AcceptSameValues(known, other)) return;
  }
  all.push_back(other);
  schema = Json{{"anyOf", all}};
}

// Returns the schema of `with`. It accepts the parameters of all fault kinds;
// the loader checks that each belongs to the kind at hand.
Json With() {
  Json properties = Json::object();
  for (const FaultKindInfo& kind : AllFaultKinds()) {
    const Json one = SchemaOfMap(fmt::format("with.{}", kind.name));
    for (const auto& [name, schema] : one["properties"].items()) {
      Widen(properties[name], schema);
    }
  }
  return Json{{"type", "object"},
              {"additionalProperties", false},
              {"properties", properties}};
}

Json Axes() {
  Json properties = Json::object();
  for (const KeySpec& key : AllKeys()) {
    const std::string_view top = key.path.substr(0, key.path.find('.'));
    if (key.path.starts_with("job.layers.")) continue;
    if (top == "job" || top == "cluster" || top == "checkpoint" ||
        key.path == "seed" || key.path == "preset") {
      properties[std::string(key.path)] =
          Json{{"type", "array"}, {"minItems", 1}};
    }
  }
  return Json{{"type", "object"},
              {"additionalProperties", false},
              {"properties", properties}};
}

Json SchemaOfType(const KeySpec& key) {
  switch (key.type) {
    case KeyType::kMap:
      return SchemaOfMap(key.path);
    case KeyType::kText:
      return Json{{"type", "string"}};
    case KeyType::kTexts:
      return ListOf(Json{{"type", "string"}});
    case KeyType::kChoice:
      return Choice(key);
    case KeyType::kCount:
      return Count(key);
    case KeyType::kNumber:
      return Json{{"type", "number"}};
    case KeyType::kNumbers:
      return ListOf(Json{{"type", "number"}});
    case KeyType::kFlag:
      return Json{{"type", "boolean"}};
    case KeyType::kDuration:
      return DurationSchema(key);
    case KeyType::kSize:
      return Either(Text("^[0-9]+(\\.[0-9]+)?(B|KiB|MiB|GiB)$"),
                    Json{{"type", "integer"}, {"minimum", 0}});
    case KeyType::kOffset:
      return Either(Text("^[0-9]+(\\.[0-9]+)?(%|B|KiB|MiB|GiB)$"),
                    Json{{"type", "integer"}, {"minimum", 0}});
    case KeyType::kNames: {
      Json names = Choice(key);
      if (key.names == Names::kInvariants) names["enum"].push_back("all");
      return Either(names, ListOf(names));
    }
    case KeyType::kCounts:
      return ListOf(Count(key));
    case KeyType::kGroups:
      return ListOf(ListOf(Count(key)));
    case KeyType::kWorker:
      return Either(Json{{"enum", {"all", "any", "chief"}}},
                    Json{{"type", "integer"}, {"minimum", 0}});
    case KeyType::kCountOrAny:
      return Either(Json{{"const", "any"}}, Count(key));
    case KeyType::kEvery:
      return Every(key);
    case KeyType::kMaps:
    case KeyType::kFaults:
      return ListOf(SchemaOfMap(key.path));
    case KeyType::kWith:
      return With();
    case KeyType::kAxes:
      return Axes();
  }
  return Json::object();
}

Json SchemaOfMap(std::string_view path) {
  Json properties = Json::object();
  Json required = Json::array();
  for (const std::string& name : KeysOf(path)) {
    if (path.empty() && name == "with") continue;
    const KeySpec* key =
        FindKey(path.empty() ? name : fmt::format("{}.{}", path, name));
    if (key == nullptr) continue;
    Json schema = SchemaOfType(*key);
    schema["description"] = key->doc;
    if (!key->fallback.empty()) {
      schema["description"] =
          fmt::format("{} (default: {})", key->doc, key->fallback);
    }
    properties[name] = schema;
    if (key->doc.ends_with("; required")) required.push_back(name);
  }
  Json map{{"type", "object"},
           {"additionalProperties", false},
           {"properties", properties}};
  if (!required.empty()) map["required"] = required;
  if (path.starts_with("expect.")) map["minProperties"] = 1;
  return map;
}

}  // namespace

std::string ScenarioJsonSchema() {
  Json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
              {"title", "Gauntlet scenario, gauntlet/v2"}};
  schema.update(SchemaOfMap(""));
  return schema.dump(2) + "\n";
}

}  // namespace gauntlet
