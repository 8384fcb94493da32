#include "sched/export/json.h"

#include <nlohmann/json.hpp>

namespace slackline::sched {
namespace {

using Json = nlohmann::ordered_json;

Json piece(const Slice& slice) {
  return {{"buffer", slice.buffer.value}, {"offset", slice.offset}, {"bytes", slice.bytes}};
}

Json pieces(std::span<const Slice> slices) {
  Json list = Json::array();
  for (const Slice& slice : slices) list.push_back(piece(slice));
  return list;
}

Json operand(const Operand& value) {
  switch (value.from) {
    case Operand::From::kAbsent:
      return nullptr;
    case Operand::From::kLiteral:
      return {{"value", value.value}};
    case Operand::From::kResult:
    case Operand::From::kAttempt:
      break;
  }
  const char* const of = value.from == Operand::From::kResult ? "result_of" : "attempt_of";
  Json out = {{of, value.op.value}, {"times", value.value}};
  if (value.addend != 0) out["plus"] = value.addend;
  if (value.modulus != 0) out["modulo"] = value.modulus;
  return out;
}

Json channel(const Schedule& schedule, std::uint32_t id) {
  const Channel& c = schedule.channel(ChannelId(id));
  Json out = {{"id", id},
              {"src", c.src.value},
              {"dst", c.dst.value},
              {"service", name(c.service)},
              {"window", c.window}};
  if (c.credit_on.valid()) out["credit_on"] = c.credit_on.value;
  out["credit_batch"] = c.credit_batch;
  out["bundle"] = name(c.bundle);
  out["bundle_bytes"] = c.bundle_bytes;
  out["bundle_delay_ps"] =
      c.bundle_delay == kForever ? Json(nullptr) : Json(c.bundle_delay.count());
  return out;
}

Json op(const Schedule& schedule, OpId id) {
  const Op& o = schedule.op(id);
  Json out = {{"id", id.value},
              {"rank", o.rank.value},
              {"kind", name(o.kind)},
              {"lane", o.lane},
              {"step", o.step}};
  if (o.channel.valid()) out["channel"] = o.channel.value;
  out["notify"] = name(o.notify);
  if (o.match.valid()) out["match"] = o.match.value;
  out["reads"] = pieces(schedule.slices(o.reads));
  out["writes"] = pieces(schedule.slices(o.writes));
  if (o.arguments != kNoArguments) {
    const OpArguments& arguments = schedule.arguments(o);
    out["arguments"] = {{"duration_ps", arguments.duration.count()},
                        {"operand", operand(arguments.operand)},
                        {"compare", operand(arguments.compare)},
                        {"offset", operand(arguments.address_offset)}};
    const OpArguments defaults;
    if (arguments.compare_mask != defaults.compare_mask) {
      out["arguments"]["compare_mask"] = arguments.compare_mask;
    }
    if (arguments.expect != defaults.expect) out["arguments"]["expect"] = name(arguments.expect);
  }
  Json after = Json::array();
  for (const Edge& edge : schedule.edges_into(id)) {
    after.push_back({{"on", name(edge.on)}, {"op", edge.pred.value}});
  }
  out["after"] = std::move(after);
  return out;
}

Json region(const Region& r) {
  return {{"kind", name(r.kind)},           {"entry", r.entry.value}, {"count", r.count},
          {"max_attempts", r.max_attempts}, {"p_ppm", r.p.value},     {"outcome", name(r.outcome)},
          {"backoff_ps", r.backoff.count()}};
}

Json fact(const Fact& f) {
  Json out = piece(f.slice);
  out["value"] = f.value.value;
  out["value_offset"] = f.value_offset;
  if (f.terms != 1) out["terms"] = f.terms;
  return out;
}

// One entry a line, made and forgotten one after another: a whole document in memory would be many
// times the schedule.
template <class Entry>
void list(std::string& out, std::string_view key, std::size_t count, Entry&& entry) {
  out.append(",\n\"").append(key).append("\": [");
  for (std::size_t i = 0; i < count; ++i) {
    out.append(i == 0 ? "\n " : ",\n ").append(entry(static_cast<std::uint32_t>(i)).dump());
  }
  out.append("]");
}

}  // namespace

std::string write_json(const Schedule& schedule) {
  const Json title = schedule.title();
  std::string out = "{\"schema\": " + std::to_string(kJsonSchema);
  out += ",\n\"digest\": \"" + to_string(schedule.digest()) + "\"";
  out += ",\n\"title\": " + title.dump(-1, ' ', false, Json::error_handler_t::replace);
  out += ",\n\"ranks\": " + std::to_string(schedule.rank_count());
  out += ",\n\"message_bytes\": " + std::to_string(schedule.message_bytes());
  list(out, "buffers", schedule.buffers().size(), [&](std::uint32_t i) {
    const Buffer& buffer = schedule.buffers()[i];
    return Json{{"id", i}, {"rank", buffer.rank.value}, {"bytes", buffer.bytes}};
  });
  list(out, "channels", schedule.channels().size(),
       [&](std::uint32_t i) { return channel(schedule, i); });
  list(out, "ops", schedule.op_count(), [&](std::uint32_t i) { return op(schedule, OpId(i)); });
  list(out, "regions", schedule.regions().size(),
       [&](std::uint32_t i) { return region(schedule.regions()[i]); });
  list(out, "pre", schedule.contract().pre.size(),
       [&](std::uint32_t i) { return fact(schedule.contract().pre[i]); });
  list(out, "post", schedule.contract().post.size(),
       [&](std::uint32_t i) { return fact(schedule.contract().post[i]); });
  return out + "}\n";
}

}  // namespace slackline::sched
