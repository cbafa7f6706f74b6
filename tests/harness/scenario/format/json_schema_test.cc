#include <set>
#include <string>

#include <gtest/gtest.h>

#include "harness/scenario/format/keys.h"
#include <nlohmann/json.hpp>

namespace gauntlet {
namespace {

using Json = nlohmann::ordered_json;

TEST(KeysTest, EachKeyIsInTheTableOnceAndAfterItsMap) {
  std::set<std::string_view> paths;
  for (const KeySpec& key : AllKeys()) {
    const size_t dot = key.path.rfind('.');
    if (dot != std::string_view::npos && key.path.find("with.") != 0) {
      EXPECT_TRUE(paths.contains(key.path.substr(0, dot))) << key.path;
    }
    EXPECT_TRUE(paths.insert(key.path).second) << key.path;
    EXPECT_FALSE(key.doc.empty()) << key.path;
    EXPECT_LE(key.low, key.high) << key.path;
  }
}

TEST(JsonSchemaTest, HasEveryKeyOfTheTable) {
  const Json schema = Json::parse(ScenarioJsonSchema());
  for (const KeySpec& key : AllKeys()) {
    if (key.path.starts_with("with.")) continue;
    const Json* at = &schema;
    std::string_view rest = key.path;
    while (!rest.empty()) {
      if (at->contains("items")) at = &(*at)["items"];
      const std::string part(rest.substr(0, rest.find('.')));
      ASSERT_TRUE((*at)["properties"].contains(part)) << key.path;
      at = &(*at)["properties"][part];
      rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    }
    EXPECT_TRUE(at->contains("description")) << key.path;
  }
}

TEST(JsonSchemaTest, IsAsStrictAsTheLoader) {
  const Json schema = Json::parse(ScenarioJsonSchema());
  EXPECT_EQ(schema["additionalProperties"], false);
  EXPECT_EQ(schema["required"], Json({"schema", "name", "expect"}));
  const Json& at = schema["properties"]["faults"]["items"]["properties"]["at"];
  EXPECT_EQ(at["additionalProperties"], false);
  EXPECT_EQ(at["properties"]["point"]["enum"][0], "step.begin");
}

// `direction` of a partition is outbound or inbound, that of a clock jump is
// forward or back.
TEST(JsonSchemaTest, ParameterOfSeveralKindsHasTheValuesOfEach) {
  const Json schema = Json::parse(ScenarioJsonSchema());
  const Json& with =
      schema["properties"]["faults"]["items"]["properties"]["with"];
  std::set<std::string> names;
  for (const Json& one : with["properties"]["direction"]["anyOf"]) {
    for (const Json& name : one["enum"]) names.insert(name.get<std::string>());
  }
  EXPECT_EQ(names,
            (std::set<std::string>{"back", "forward", "inbound", "outbound"}));
}

}  // namespace
}  // namespace gauntlet
