#include "proto/describe.h"

#include <doctest/doctest.h>

#include "support/outcome.h"

using namespace sessiond;

namespace {

constexpr std::array<std::string_view, 3> modes{"fast", "slow", "careful"};

struct Item {
  std::string name;
  std::optional<std::int64_t> count;
  static constexpr auto fields() {
    return std::array{field<&Item::name>("name", "what it is called", length(1, 4)),
                      field<&Item::count>("count", "how many", between(0, 9))};
  }
};

// One field of every type, and one for every rule.
struct Sample {
  std::string title;
  std::int64_t total_phases = 0;
  std::optional<bool> done;
  std::optional<std::int64_t> phase, most;
  std::optional<double> ratio, at_least_one;
  std::optional<std::string> mode, note;
  std::optional<json::value> any;
  std::optional<json::object> extra;
  std::optional<RawJson> raw;
  std::optional<std::vector<Item>> items;
  std::optional<std::vector<std::string>> modes_list;
  std::optional<std::map<std::string, std::int64_t>> counts;
  std::optional<Item> item;

  static constexpr auto fields() {
    using S = Sample;
    return std::array{field<&S::title>("title", "a title"),
                      field<&S::total_phases>("total_phases", "how many phases", at_least(1)),
                      field<&S::done>("done", "whether it is done"),
                      field<&S::phase>("phase", "a phase", between(0, 10)),
                      field<&S::most>("most", "at most", Rules{.max = 5}),
                      field<&S::ratio>("ratio", "a ratio", between(0, 1)),
                      field<&S::at_least_one>("at_least_one", "a real number", at_least(1)),
                      field<&S::mode>("mode", "how", one_of(modes)),
                      field<&S::note>("note", "a note", Rules{.length_min = 2}),
                      field<&S::any>("any", "anything"),
                      field<&S::extra>("extra", "an object"),
                      field<&S::raw>("raw", "as it is"),
                      field<&S::items>("items", "items", length(1, 3)),
                      field<&S::modes_list>("modes_list", "modes", one_of(modes)),
                      field<&S::counts>("counts", "counts"),
                      field<&S::item>("item", "one item")};
  }
};

struct Options {
  std::optional<std::int64_t> if_revision;
  static constexpr auto fields() {
    return std::array{field<&Options::if_revision>("if_revision", "only then", at_least(0))};
  }
};

const Where params{nullptr, "params"};

template <class T>
Status decode(T& out, std::string_view text) {
  const Target target{fields_of<T>(), &out};
  return decode_fields({&target, 1}, *parse_json(text), params);
}

// What decoding `{"title":"t","total_phases":1, MEMBERS}` says.
std::string with(std::string_view members) {
  Sample sample;
  return refusal(decode(sample, R"({"title":"t","total_phases":1,)" + std::string(members) + "}"));
}

}  // namespace

TEST_CASE("describe: every type is read") {
  Sample sample;
  const Status status = decode(sample, R"({"title":"é","total_phases":6,"done":true,"phase":10,"most":-7,
      "ratio":0.5,"at_least_one":2,"mode":"slow","note":"ab","any":[1,null],"extra":{"x":1},
      "raw":{"y": [ 2 ]},"items":[{"name":"a","count":3},{"name":"b"}],"modes_list":["fast","careful"],
      "counts":{"a":1,"b":2},"item":{"name":"abcd"}})");
  REQUIRE(refusal(status) == "(accepted)");
  CHECK(sample.title == "é");
  CHECK(sample.total_phases == 6);
  CHECK(sample.done == true);
  CHECK(sample.phase == 10);
  CHECK(sample.most == -7);
  CHECK(sample.ratio == 0.5);
  CHECK(sample.at_least_one == 2.0);
  CHECK(sample.mode == "slow");
  CHECK(sample.note == "ab");
  CHECK(*sample.any == json::array{1, nullptr});
  CHECK(*sample.extra == json::object{{"x", 1}});
  CHECK(sample.raw->text == R"({"y":[2]})");
  REQUIRE(sample.items->size() == 2);
  CHECK(sample.items->at(0).count == 3);
  CHECK(sample.items->at(1).name == "b");
  CHECK_FALSE(sample.items->at(1).count.has_value());
  CHECK(sample.modes_list == std::vector<std::string>{"fast", "careful"});
  CHECK(sample.counts == std::map<std::string, std::int64_t>{{"a", 1}, {"b", 2}});
  CHECK(sample.item->name == "abcd");
}

TEST_CASE("describe: what is optional may be missing or null") {
  for (const char* text : {R"({"title":"t","total_phases":1})",
                           R"({"title":"t","total_phases":1,"done":null,"phase":null,"ratio":null,"mode":null,
                               "any":null,"extra":null,"items":null,"counts":null,"item":null})"}) {
    Sample sample;
    CHECK(refusal(decode(sample, text)) == "(accepted)");
    CHECK_FALSE(sample.done.has_value());
    CHECK_FALSE(sample.any.has_value());
    CHECK_FALSE(sample.items.has_value());
  }
}

TEST_CASE("describe: a wrong value is named with its place, what was expected and what came") {
  struct Row {
    std::string_view members, message;
  };
  const Row rows[] = {
      {R"("done":1)", "params.done: expected true or false, got 1"},
      {R"("done":"true")", R"(params.done: expected true or false, got "true")"},
      {R"("phase":11)", "params.phase: expected a whole number from 0 to 10, got 11"},
      {R"("phase":-1)", "params.phase: expected a whole number from 0 to 10, got -1"},
      {R"("phase":1.0)", "params.phase: expected a whole number from 0 to 10, got 1.0"},
      {R"("phase":[])", "params.phase: expected a whole number from 0 to 10, got []"},
      {R"("most":6)", "params.most: expected a whole number <= 5, got 6"},
      {R"("most":18446744073709551615)",
       "params.most: expected a whole number <= 5, got 18446744073709551615"},
      {R"("ratio":1.5)", "params.ratio: expected a number from 0 to 1, got 1.5"},
      {R"("ratio":"1")", R"(params.ratio: expected a number from 0 to 1, got "1")"},
      {R"("at_least_one":0.5)", "params.at_least_one: expected a number >= 1, got 0.5"},
      {R"("mode":"fst")",
       R"(params.mode: expected one of fast, slow, careful, got "fst" (did you mean 'fast'?))"},
      {R"("mode":"other")", R"(params.mode: expected one of fast, slow, careful, got "other")"},
      {R"("mode":3)", "params.mode: expected one of fast, slow, careful, got 3"},
      {R"("note":"é")", R"(params.note: expected a string of at least 2 characters, got "é" (1 characters))"},
      {R"("note":7)", "params.note: expected a string, got 7"},
      {R"("extra":[])", "params.extra: expected an object, got []"},
      {R"("items":{})", "params.items: expected an array, got {}"},
      {R"("items":[])", "params.items: expected an array of 1 to 3 items, got 0"},
      {R"("items":[1,2,3,4])", "params.items: expected an array of 1 to 3 items, got 4"},
      {R"("items":[{"name":"a"},{"name":"b"},{"name":5}])", "params.items[2].name: expected a string, got 5"},
      {R"("items":[{"name":"a"},7])", "params.items[1]: expected an object, got 7"},
      {R"("items":[{"name":""}])",
       R"(params.items[0].name: expected a string of 1 to 4 characters, got "" (0 characters))"},
      {R"("items":[{"name":"ééééé"}])",
       "params.items[0].name: expected a string of 1 to 4 characters, got \"ééééé\" (5 characters)"},
      {R"("items":[{"name":"a","count":10}])",
       "params.items[0].count: expected a whole number from 0 to 9, got 10"},
      {R"("items":[{}])", "params.items[0].name: required but missing (what it is called)"},
      {R"("items":[{"name":"a","cuont":1}])",
       "params.items[0].cuont: not a known name (did you mean 'count'?)"},
      {R"("modes_list":["fast","x"])",
       R"(params.modes_list[1]: expected one of fast, slow, careful, got "x")"},
      {R"("counts":[])", "params.counts: expected an object, got []"},
      {R"("counts":{"a":1,"b c":"x"})", R"(params.counts.b c: expected a whole number, got "x")"},
      {R"("counts":{"a\n":"x"})", R"(params.counts.a\n: expected a whole number, got "x")"},
      {R"("item":{"name":null})", "params.item.name: expected a string, got null"},
      {R"("item":"x")", R"(params.item: expected an object, got "x")"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.members);
    CHECK(with(row.members) == row.message);
  }
}

TEST_CASE("describe: an error carries its code and the field for programs") {
  Sample sample;
  const Status status = decode(sample, R"({"title":"t","total_phases":"six"})");
  REQUIRE_FALSE(status);
  CHECK(status.error().message == R"(params.total_phases: expected a whole number >= 1, got "six")");
  CHECK(status.error().code == ErrorCode::invalid_params);
  CHECK(status.error().data == json::object{{"field", "params.total_phases"}});
}

TEST_CASE("describe: missing and unknown members, and what is no object") {
  struct Row {
    std::string_view text, message;
  };
  const Row rows[] = {
      {"null", "params.title: required but missing (a title)"},
      {"{}", "params.title: required but missing (a title)"},
      {R"({"title":"t"})", "params.total_phases: required but missing (how many phases)"},
      {R"({"title":null,"total_phases":1})", "params.title: expected a string, got null"},
      {R"({"title":"t","total_phases":1,"total_phase":2})",
       "params.total_phase: not a known name (did you mean 'total_phases'?)"},
      {R"({"title":"t","total_phases":1,"zzzzzzzz":2})",
       "params.zzzzzzzz: not a known name; known are title, total_phases, done, phase, most, ratio, "
       "at_least_one, mode, note, any, extra, raw, items, modes_list, counts, item"},
      {R"({"title":"t","total_phases":1,"a\u001bb":2})",
       R"(params.a\x1bb: not a known name; known are title, )"
       R"(total_phases, done, phase, most, ratio, at_least_one, )"
       R"(mode, note, any, extra, raw, items, modes_list, )"
       R"(counts, item)"},
      {"[]", "params: expected an object, got []"},
      {"5", "params: expected an object, got 5"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    Sample sample;
    CHECK(refusal(decode(sample, row.text)) == row.message);
  }
}

TEST_CASE("describe: where nothing is taken, any name is refused") {
  Nothing nothing;
  CHECK(refusal(decode(nothing, "{}")) == "(accepted)");
  CHECK(refusal(decode(nothing, R"({"x":1})")) == "params.x: not a known name; none are taken here");
  CHECK(refusal(decode(nothing, R"({"":1})")) == R"(params."": not a known name; none are taken here)");
}

TEST_CASE("describe: two structs may share one object") {
  Item item;
  Options options;
  const Target targets[] = {{fields_of<Item>(), &item}, {fields_of<Options>(), &options}};
  CHECK(refusal(decode_fields(targets, *parse_json(R"({"name":"a","if_revision":7})"), params)) ==
        "(accepted)");
  CHECK(item.name == "a");
  CHECK(options.if_revision == 7);
  CHECK(refusal(decode_fields(targets, *parse_json(R"({"name":"a","if_revison":7})"), params)) ==
        "params.if_revison: not a known name (did you mean 'if_revision'?)");
}

TEST_CASE("describe: a root without a name leaves no mark in messages") {
  const Where root{};
  Item item;
  const Target target{fields_of<Item>(), &item};
  CHECK(refusal(decode_fields({&target, 1}, *parse_json(R"({"name":1})"), root)) ==
        "name: expected a string, got 1");
  CHECK(refusal(decode_fields({&target, 1}, *parse_json("[1]"), root)) == "expected an object, got [1]");
}

TEST_CASE("describe: a real number may be any number") {
  struct Row {
    std::string_view text;
    double number;
  };
  const Row rows[] = {{"1", 1.0}, {"-2.5", -2.5}, {"18446744073709551615", 18446744073709551615.0}};
  for (const Row& row : rows) {
    double number = 0;
    CHECK(refusal(decode_real(number, *parse_json(row.text), params, Rules{})) == "(accepted)");
    CHECK(number == row.number);
  }
}

TEST_CASE("describe: long values are shortened in messages") {
  const std::string message = with(R"("done":")" + std::string(500, 'x') + '"');
  CHECK(message == "params.done: expected true or false, got \"" + std::string(59, 'x') + "...");
}

TEST_CASE("describe: what is written leaves out what is not there") {
  std::string out;
  Sample sample;
  sample.title = "a\"b";
  sample.total_phases = 6;
  write_fields(fields_of<Sample>(), &sample, out);
  CHECK(out == R"({"title":"a\"b","total_phases":6})");

  out.clear();
  sample.done = false;
  sample.ratio = 1.0;
  sample.any = json::value(nullptr);
  sample.extra = json::object{{"k", json::array{}}};
  sample.raw = RawJson{"[ 1 ]"};
  sample.items = std::vector<Item>{{.name = "x", .count = 2}, {.name = "y"}};
  sample.modes_list = std::vector<std::string>{};
  sample.counts = std::map<std::string, std::int64_t>{{"b", 2}, {"a\n", 1}};
  write_fields(fields_of<Sample>(), &sample, out);
  CHECK(
      out ==
      R"({"title":"a\"b","total_phases":6,"done":false,"ratio":1.0,"any":null,"extra":{"k":[]},"raw":[ 1 ],)"
      R"("items":[{"name":"x","count":2},{"name":"y"}],"modes_list":[],"counts":{"a\n":1,"b":2}})");

  out.clear();
  const Options nothing;
  write_fields(fields_of<Options>(), &nothing, out);
  CHECK(out == "{}");
}

TEST_CASE("describe: what is written is read back the same") {
  const std::string text =
      R"({"title":"t","total_phases":1,"done":true,"ratio":0.5,"mode":"fast","any":[1,{"a":null}],)"
      R"("raw":{"b":2},"items":[{"name":"x","count":2}],"counts":{"a":1},"item":{"name":"z"}})";
  Sample sample;
  REQUIRE(refusal(decode(sample, text)) == "(accepted)");
  std::string out;
  write_fields(fields_of<Sample>(), &sample, out);
  CHECK(out == text);
}

TEST_CASE("describe: the schema says what decoding checks") {
  const Fields group = fields_of<Sample>();
  const json::object schema = fields_schema({&group, 1});
  CHECK(schema.at("type") == "object");
  CHECK(schema.at("additionalProperties") == false);
  CHECK(schema.at("required") == json::array{"title", "total_phases"});
  const json::object& properties = schema.at("properties").as_object();
  CHECK(properties.size() == Sample::fields().size());
  struct Row {
    std::string_view name, schema;
  };
  const Row rows[] = {
      {"title", R"({"type":"string","description":"a title"})"},
      {"total_phases", R"({"type":"integer","minimum":1,"description":"how many phases"})"},
      {"done", R"({"type":"boolean","description":"whether it is done"})"},
      {"phase", R"({"type":"integer","minimum":0,"maximum":10,"description":"a phase"})"},
      {"most", R"({"type":"integer","maximum":5,"description":"at most"})"},
      {"ratio", R"({"type":"number","minimum":0,"maximum":1,"description":"a ratio"})"},
      {"mode", R"({"type":"string","enum":["fast","slow","careful"],"description":"how"})"},
      {"note", R"({"type":"string","minLength":2,"description":"a note"})"},
      {"any", R"({"description":"anything"})"},
      {"extra", R"({"type":"object","description":"an object"})"},
      {"raw", R"({"description":"as it is"})"},
      {"items",
       R"({"type":"array","items":{"type":"object","properties":{"name":{"type":"string","minLength":1,)"
       R"("maxLength":4,"description":"what it is called"},"count":{"type":"integer","minimum":0,"maximum":9,)"
       R"("description":"how many"}},"additionalProperties":false,"required":["name"]},"minItems":1,)"
       R"("maxItems":3,"description":"items"})"},
      {"modes_list",
       R"({"type":"array","items":{"type":"string","enum":["fast","slow","careful"]},"description":"modes"})"},
      {"counts", R"({"type":"object","additionalProperties":{"type":"integer"},"description":"counts"})"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    CHECK(to_json_text(properties.at(row.name)) == row.schema);
  }
}

TEST_CASE("describe: two groups make one schema, and nothing is required of nobody") {
  const Fields groups[] = {fields_of<Item>(), fields_of<Options>()};
  const json::object schema = fields_schema(groups);
  CHECK(schema.at("properties").as_object().size() == 3);
  CHECK(schema.at("required") == json::array{"name"});
  const Fields options = fields_of<Options>();
  CHECK_FALSE(fields_schema({&options, 1}).contains("required"));
}
