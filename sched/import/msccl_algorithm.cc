#include "sched/import/msccl_algorithm.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/text_scan.h"
#include "base/xml_reader.h"

namespace slackline::sched {
namespace {

using base::XmlElement;

constexpr std::uint32_t kMostGpus = 1024;  // a contract may have a fact for each pair
constexpr std::uint32_t kMostBlocks = std::numeric_limits<std::uint16_t>::max();  // lanes
constexpr std::uint32_t kMost = std::numeric_limits<std::int32_t>::max();

constexpr std::array<std::pair<std::string_view, MscclAction>, 9> kActions = {{
    {"s", MscclAction::kSend},
    {"r", MscclAction::kRecv},
    {"rcs", MscclAction::kRcs},
    {"rrs", MscclAction::kRrs},
    {"rrc", MscclAction::kRrc},
    {"rrcs", MscclAction::kRrcs},
    {"cpy", MscclAction::kCopy},
    {"re", MscclAction::kReduce},
    {"nop", MscclAction::kNop},
}};

class Parser {
 public:
  explicit Parser(std::string_view file) : file_(file) {}

  MscclAlgorithm algorithm(const XmlElement& root) {
    require_name(root, "algo");
    MscclAlgorithm out;
    out.line = root.line;
    out.name = text(root, "name");
    out.collective = text(root, "coll");
    out.chunks = number(root, "nchunksperloop", 1, kMost);
    gpus_ = number(root, "ngpus", 1, kMostGpus);
    const bool in_place = root.find("inplace") != nullptr && number(root, "inplace", 0, 1) == 1;
    const bool apart = root.find("outofplace") != nullptr && number(root, "outofplace", 0, 1) == 1;
    out.in_place = in_place && !apart;
    for (const XmlElement& child : root.children) {
      require_name(child, "gpu");
      require_next(child, "id", out.gpus.size(), gpus_);
      out.gpus.push_back(gpu(child));
    }
    if (out.gpus.size() != gpus_) {
      fail(root, fmt::format("{} GPUs; expected {}, as ngpus says", out.gpus.size(), gpus_));
    }
    return out;
  }

 private:
  MscclProcessor gpu(const XmlElement& element) {
    MscclProcessor out;
    out.line = element.line;
    out.input = number(element, "i_chunks", 0, kMost);
    out.output = number(element, "o_chunks", 0, kMost);
    out.scratch = number(element, "s_chunks", 0, kMost);
    for (const XmlElement& child : element.children) {
      require_name(child, "tb");
      require_next(child, "id", out.blocks.size(), kMostBlocks);
      out.blocks.push_back(block(child));
    }
    return out;
  }

  MscclThreadBlock block(const XmlElement& element) {
    MscclThreadBlock out;
    out.line = element.line;
    out.send = number_or_none(element, "send", gpus_ - 1);
    out.recv = number_or_none(element, "recv", gpus_ - 1);
    out.channel = static_cast<std::uint32_t>(number_or_none(element, "chan", kMost));
    for (const XmlElement& child : element.children) {
      require_name(child, "step");
      require_next(child, "s", out.steps.size(), kMost);
      out.steps.push_back(step(child));
      const MscclInstruction& step = out.steps.back();
      if (sends(step.action) && out.send < 0) {
        fail(child, "a step that sends in a thread block with send=\"-1\"; expected a peer");
      }
      if (receives(step.action) && out.recv < 0) {
        fail(child, "a step that receives in a thread block with recv=\"-1\"; expected a peer");
      }
    }
    return out;
  }

  MscclInstruction step(const XmlElement& element) {
    MscclInstruction out;
    out.line = element.line;
    out.action = action(element);
    out.tells = number(element, "hasdep", 0, 1) == 1;
    out.block = number_or_none(element, "depid", kMostBlocks);
    out.step = number_or_none(element, "deps", kMost);
    if ((out.block < 0) != (out.step < 0)) {
      fail(element, "depid and deps, of which one is -1; expected both or none");
    }
    if (out.action == MscclAction::kNop) return out;
    out.count = number(element, "cnt", 1, kMost);
    if (reads_own(out.action)) out.source = chunks(element, "srcbuf", "srcoff");
    if (writes_own(out.action)) out.target = chunks(element, "dstbuf", "dstoff");
    return out;
  }

  MscclAction action(const XmlElement& element) const {
    const std::string_view type = text(element, "type");
    for (const auto& [name, action] : kActions) {
      if (name == type) return action;
    }
    fail(element, fmt::format("type: {}; expected s, r, rcs, rrs, rrc, rrcs, cpy, re or nop",
                              in_quotes(type)));
  }

  MscclChunks chunks(const XmlElement& element, std::string_view buffer, std::string_view offset) {
    const std::string_view name = text(element, buffer);
    if (name != "i" && name != "o" && name != "s") {
      fail(element, fmt::format("{}: {}; expected i, o or s", buffer, in_quotes(name)));
    }
    return {name.front(), number(element, offset, 0, kMost)};
  }

  std::string_view text(const XmlElement& element, std::string_view name) const {
    const std::string_view* value = element.find(name);
    if (value == nullptr)
      fail(element, fmt::format("<{}> has no {}; expected it", element.name, name));
    return *value;
  }

  std::uint32_t number(const XmlElement& element, std::string_view name, std::uint64_t low,
                       std::uint64_t high) const {
    std::string_view left = text(element, name);
    std::uint64_t value = 0;
    if (!take_number(left, value) || !left.empty() || value < low || value > high) {
      fail(element, fmt::format("{}: {}; expected a whole number from {} to {}", name,
                                in_quotes(text(element, name)), low, high));
    }
    return static_cast<std::uint32_t>(value);
  }

  // −1 is none.
  std::int32_t number_or_none(const XmlElement& element, std::string_view name,
                              std::uint64_t high) const {
    if (text(element, name) == "-1") return -1;
    return static_cast<std::int32_t>(number(element, name, 0, high));
  }

  void require_next(const XmlElement& element, std::string_view name, std::size_t next,
                    std::uint64_t end) const {
    if (next >= end) {
      fail(element, fmt::format("<{}> number {}; expected at most {}", element.name, next, end));
    }
    if (number(element, name, 0, kMost) != next) {
      fail(element, fmt::format("{}: {}; expected {}, in order", name,
                                in_quotes(text(element, name)), next));
    }
  }

  void require_name(const XmlElement& element, std::string_view name) const {
    if (element.name != name) {
      fail(element, fmt::format("<{}> is out of place; expected <{}>", element.name, name));
    }
  }

  [[noreturn]] void fail(const XmlElement& at, std::string_view message) const {
    throw InputError(fmt::format("{}:{}: {}", file_, at.line, message));
  }

  std::string_view file_;
  std::uint32_t gpus_ = 0;
};

}  // namespace

MscclAlgorithm parse_msccl(std::string_view text, std::string_view file) {
  return Parser(file).algorithm(base::read_xml(text, file));
}

}  // namespace slackline::sched
