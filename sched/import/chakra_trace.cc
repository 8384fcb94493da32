#include "sched/import/chakra_trace.h"

#include <fmt/format.h>

#include <protozero/pbf_reader.hpp>
#include <utility>

#include "base/error.h"
#include "base/text_scan.h"
#include "sched/export/chakra_schema.h"

namespace slackline::sched {
namespace {

using protozero::data_view;
using protozero::pbf_reader;
using Wire = protozero::pbf_wire_type;

std::string_view text_of(data_view view) { return {view.data(), view.size()}; }

class Parser {
 public:
  Parser(std::string_view bytes, std::string_view file, bool with_control)
      : bytes_(bytes), file_(file), with_control_(with_control) {}

  ChakraRank parse() {
    try {
      metadata(message());
      while (next_ < bytes_.size()) node(message());
    } catch (const protozero::exception& error) {
      fail(fmt::format("no message of Chakra's schema ({}); expected GlobalMetadata, then Nodes",
                       error.what()));
    }
    return std::move(rank_);
  }

 private:
  struct Attribute {
    std::string_view name;
    std::string_view text;
    std::optional<std::int64_t> number;
    bool all_true = true;
    std::uint32_t value = 0;  // which field it is, of all forms; 0: none
  };

  [[noreturn]] void fail(std::string_view message) const {
    throw InputError(fmt::format("{}: byte {}: {}", file_, at_, message));
  }

  // The next message, whose length stands before it.
  data_view message() {
    at_ = next_;
    const char* from = bytes_.data() + at_;
    const char* const end = bytes_.data() + bytes_.size();
    const std::uint64_t length = protozero::decode_varint(&from, end);
    const auto left = static_cast<std::uint64_t>(end - from);
    if (length > left) {
      fail(fmt::format("a message of {} bytes, of which {} are there; expected all", length, left));
    }
    next_ = static_cast<std::uint64_t>(from - bytes_.data()) + length;
    return {from, static_cast<std::size_t>(length)};
  }

  // Whether the reader stands at that field, which then has that wire type.
  bool is(const pbf_reader& in, std::uint32_t field, Wire type, std::string_view what) const {
    if (in.tag() != field) return false;
    if (in.wire_type() != type) {
      fail(fmt::format("{} has wire type {}; expected {}", what,
                       static_cast<std::uint32_t>(in.wire_type()),
                       static_cast<std::uint32_t>(type)));
    }
    return true;
  }

  void metadata(data_view bytes) const {
    for (pbf_reader in(bytes); in.next(); in.skip()) {
      is(in, chakra::metadata_field::kVersion, Wire::length_delimited, "version");
      is(in, chakra::metadata_field::kAttribute, Wire::length_delimited, "attr");
    }
  }

  void node(data_view bytes) {
    namespace field = chakra::node_field;
    ChakraNode& node = rank_.nodes.emplace_back();
    node.at = at_;
    node.first_wait = static_cast<std::uint32_t>(rank_.waits_for.size());
    std::int64_t type = 0;
    for (pbf_reader in(bytes); in.next();) {
      if (is(in, field::kId, Wire::varint, "id")) {
        node.id = in.get_uint64();
      } else if (is(in, field::kType, Wire::varint, "type")) {
        type = in.get_int64();
      } else if (in.tag() == field::kDataDependencies) {
        dependencies(in, "data_deps");
      } else if (in.tag() == field::kControlDependencies && with_control_) {
        dependencies(in, "ctrl_deps");
      } else if (is(in, field::kDuration, Wire::varint, "duration_micros")) {
        node.micros = in.get_uint64();
      } else if (is(in, field::kAttribute, Wire::length_delimited, "attr")) {
        attribute(in.get_view(), node);
      } else {
        in.skip();
      }
    }
    if (type < 1 || type > static_cast<std::int64_t>(ChakraType::kCollective)) {
      fail(
          fmt::format("node {} has type {}; expected 1 to 7, as METADATA_NODE (1), COMP_NODE (4), "
                      "COMM_SEND_NODE (5), COMM_RECV_NODE (6), COMM_COLL_NODE (7)",
                      node.id, type));
    }
    node.type = static_cast<ChakraType>(type);
    node.waits = static_cast<std::uint32_t>(rank_.waits_for.size()) - node.first_wait;
  }

  // One, or packed ones.
  void dependencies(pbf_reader& in, std::string_view what) {
    if (in.wire_type() == Wire::varint) {
      rank_.waits_for.push_back(in.get_uint64());
      return;
    }
    is(in, in.tag(), Wire::length_delimited, what);
    for (const std::uint64_t id : in.get_packed_uint64()) rank_.waits_for.push_back(id);
  }

  void attribute(data_view bytes, ChakraNode& node) const {
    namespace field = chakra::attribute_field;
    Attribute found;
    for (pbf_reader in(bytes); in.next();) {
      if (in.tag() >= field::kFirstValue) found.value = in.tag();
      if (is(in, field::kName, Wire::length_delimited, "an attribute's name")) {
        found.name = text_of(in.get_view());
      } else if (is(in, field::kString, Wire::length_delimited, "string_val")) {
        found.text = text_of(in.get_view());
      } else if (is(in, field::kBoolList, Wire::length_delimited, "bool_list")) {
        found.all_true = all_of_list(in.get_view());
      } else if (!whole(in, found.number)) {
        in.skip();
      }
    }
    take(found, node);
  }

  // The value of any attribute that is a whole number or a truth.
  bool whole(pbf_reader& in, std::optional<std::int64_t>& number) const {
    namespace field = chakra::attribute_field;
    switch (in.tag()) {
      case field::kInt32:
      case field::kInt64:
      case field::kUint32:
      case field::kUint64:
      case field::kBool:
        is(in, in.tag(), Wire::varint, "a whole number");
        number = in.get_int64();
        return true;
      case field::kSint32:
      case field::kSint64:
        is(in, in.tag(), Wire::varint, "a whole number");
        number = in.get_sint64();
        return true;
      case field::kFixed32:
        is(in, in.tag(), Wire::fixed32, "fixed32_val");
        number = in.get_fixed32();
        return true;
      case field::kSfixed32:
        is(in, in.tag(), Wire::fixed32, "sfixed32_val");
        number = in.get_sfixed32();
        return true;
      case field::kFixed64:
      case field::kSfixed64:
        is(in, in.tag(), Wire::fixed64, "fixed64_val");
        number = in.get_sfixed64();
        return true;
      default:
        return false;
    }
  }

  bool all_of_list(data_view bytes) const {
    for (pbf_reader in(bytes); in.next();) {
      if (in.tag() != chakra::kListValues) {
        in.skip();
      } else if (in.wire_type() == Wire::varint) {
        if (!in.get_bool()) return false;
      } else {
        is(in, in.tag(), Wire::length_delimited, "bool_list");
        for (const bool value : in.get_packed_bool()) {
          if (!value) return false;
        }
      }
    }
    return true;
  }

  void take(const Attribute& attribute, ChakraNode& node) const {
    const std::string_view name = attribute.name;
    const std::optional<std::int64_t> number = attribute.number;
    const auto require = [&](bool is_so, std::string_view what) {
      if (is_so) return;
      fail(fmt::format("attribute {} of node {}: expected {}", name, node.id, what));
    };
    const std::pair<std::string_view, std::optional<std::int64_t>*> numbers[] = {
        {"comm_size", &node.size},       {"comm_src", &node.source},
        {"comm_dst", &node.target},      {"comm_tag", &node.tag},
        {"comm_type", &node.collective}, {"num_ops", &node.instructions},
        {kChakraLane, &node.lane},       {kChakraPicoseconds, &node.picoseconds},
    };
    for (const auto& [known, value] : numbers) {
      if (name != known) continue;
      require(number.has_value(), "a whole number");
      *value = number;
    }
    // What is told in another form is not passed over: it says whose communication this is.
    namespace field = chakra::attribute_field;
    if (name == "is_cpu_op") {
      require(number.has_value(), "a truth");
      node.on_cpu = *number != 0;
    } else if (name == "pg_name") {
      require(attribute.value == 0 || attribute.value == field::kString, "a text");
      node.group = attribute.text;
    } else if (name == "involved_dim") {
      require(attribute.value == field::kBoolList, "a list of truths");
      node.some_dimensions = !attribute.all_true;
    }
  }

  std::string_view bytes_;
  std::string_view file_;
  const bool with_control_;
  std::uint64_t at_ = 0;  // where the message begins that is being read
  std::uint64_t next_ = 0;
  ChakraRank rank_;
};

}  // namespace

ChakraRank parse_chakra(std::string_view bytes, std::string_view file, bool with_control) {
  if (bytes.starts_with("\x1f\x8b")) {
    throw Unsupported(fmt::format("{}: it is compressed; expected what gunzip makes of it", file));
  }
  return Parser(bytes, file, with_control).parse();
}

}  // namespace slackline::sched
