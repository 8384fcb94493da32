#include "sched/import/mscclpp.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "base/text_scan.h"
#include "sched/event_graph.h"
#include "sched/import/json_fields.h"
#include "sched/import/mscclpp_memory.h"
#include "sched/import/rank_programs.h"
#include "sched/program_writer.h"

namespace slackline::sched {
namespace {

// The k-th signals of one GPU to another, over their j-th channel of a kind.
struct Signals {
  ChannelId channel;
  std::vector<OpId> sent;
  std::vector<OpId> received;
};

// A barrier of several thread blocks, the k-th time.
struct Meeting {
  std::vector<OpId> arrived;
  std::vector<OpId> left;
  std::uint32_t blocks = 0;
};

class PlanImporter {
 public:
  PlanImporter(const JsonPlace& root, const MscclOptions& options)
      : root_(root),
        memory_(root, options),
        count_(memory_.gpu_count()),
        builder_(count_),
        written_(count_, false) {}

  Schedule import() {
    memory_.add_to(builder_);
    const JsonPlace gpus = root_.list("gpus");
    for (std::uint32_t g = 0; g < count_; ++g) add_gpu(g, gpus.entry(g));
    if (memory_.is_broadcast()) memory_.add_broadcast(written_, builder_);
    check_signals();
    Schedule schedule = builder_.build();
    if (const std::vector<OpId> cycle = find_cycle(schedule); !cycle.empty()) refuse(cycle);
    return schedule;
  }

 private:
  // What an operation of a thread block is made in.
  struct Block {
    std::uint32_t gpu = 0;
    std::uint32_t number = 0;
    const JsonPlace* gpu_place = nullptr;
    const JsonPlace* place = nullptr;
    OpPlace at;
    OpId sync;                // what all before the last nop or barrier have ended by
    std::vector<OpId> since;  // ends that nothing waits for yet
    OpId last;                // of the operation
    std::map<std::uint32_t, std::uint32_t> barriers;  // how often it came to each
  };

  void add_gpu(std::uint32_t g, const JsonPlace& place) {
    meetings_.clear();
    const JsonPlace blocks = place.list("threadblocks");
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      const JsonPlace block_place = blocks.entry(b);
      const JsonPlace id = block_place.at("id");
      if (id.number() != b || b > 0xffff) {
        id.fail(fmt::format("expected {}: thread blocks stand in order, and are up to 65536", b));
      }
      Block block;
      block.gpu = g;
      block.number = static_cast<std::uint32_t>(b);
      block.gpu_place = &place;
      block.place = &block_place;
      const JsonPlace ops = block_place.list("ops");
      for (std::size_t s = 0; s < ops.size(); ++s) {
        block.at = {RankId(g), static_cast<std::uint32_t>(s), static_cast<std::uint16_t>(b)};
        block.last = block.sync;
        add_operation(ops.entry(s), block);
        while (origin_.size() < builder_.next_op().value) {
          origin_.push_back({g, block.number, static_cast<std::uint32_t>(s)});
        }
      }
    }
    for (const auto& [key, meeting] : meetings_) {
      if (meeting.arrived.size() != meeting.blocks) {
        place.fail(fmt::format("barrier {}: {} thread blocks come to it, of {}; expected all",
                               key.first, meeting.arrived.size(), meeting.blocks));
      }
      for (const OpId left : meeting.left) builder_.after(meeting.arrived, left);
    }
  }

  void add_operation(const JsonPlace& op, Block& block) {
    const std::string& name = op.at("name").text();
    if (name == "nop" || name == "flush") return sync(block, builder_.join(block.at));
    if (name == "barrier") return barrier(op, block);
    if (name == "signal" || name == "rlxsignal") {
      for_each_channel(
          op, block, [&](Signals& all, const JsonPlace&) { signal(all, block); }, true);
    } else if (name == "wait" || name == "rlxwait") {
      for_each_channel(
          op, block,
          [&](Signals& all, const JsonPlace&) {
            all.received.push_back(next(block, builder_.receive(block.at, all.channel, {})));
            end(block);
          },
          false);
    } else if (name == "copy" || name == "put" || name == "pws" || name == "pwsf" ||
               name == "get") {
      move(op, name, block);
    } else if (name == "re" || name == "res" || name == "rre" || name == "rres") {
      reduce(op, name, block);
    } else {
      op.at("name").fail(fmt::format(
          "operation {} is not supported; expected nop, barrier, signal, rlxsignal, wait, rlxwait, "
          "flush, put, pws, pwsf, get, copy, re, res, rre or rres",
          in_quotes(name)));
    }
  }

  // Behind the operation's last one, or behind what the thread block has waited for.
  OpId next(Block& block, OpId op) {
    builder_.after(block.last, op);
    block.last = op;
    return op;
  }
  // The next one is beside it.
  void end(Block& block) {
    block.since.push_back(block.last);
    block.last = block.sync;
  }

  void sync(Block& block, OpId join) {
    builder_.after(block.sync, join);
    builder_.after(block.since, join);
    block.since.clear();
    block.sync = join;
  }

  void barrier(const JsonPlace& op, Block& block) {
    const std::uint32_t id = op.at("barrier_id").number32();
    const JsonPlace number = op.at("num_threadblocks");
    Meeting& meeting = meetings_[{id, block.barriers[id]++}];
    if (meeting.blocks == 0) meeting.blocks = number.number32();
    if (meeting.blocks != number.number32()) {
      number.fail(fmt::format("expected {}, as another thread block says of barrier {}",
                              meeting.blocks, id));
    }
    sync(block, builder_.join(block.at));
    meeting.arrived.push_back(block.sync);
    sync(block, builder_.join(block.at));
    meeting.left.push_back(block.sync);
  }

  // The number that `index` stands for: the index-th of those that the thread block lists for the
  // kind.
  static std::uint32_t listed(const Block& block, std::string_view list, std::string_view kind_key,
                              std::string_view ids_key, std::string_view kind,
                              const JsonPlace& index) {
    std::uint64_t left = index.number();
    if (block.place->has(list)) {
      const JsonPlace entries = block.place->list(list);
      for (std::size_t e = 0; e < entries.size(); ++e) {
        const JsonPlace entry = entries.entry(e);
        if (entry.at(kind_key).text() != kind) continue;
        const JsonPlace ids = entry.list(ids_key);
        if (left < ids.size()) return ids.entry(left).number32();
        left -= ids.size();
      }
    }
    index.fail(fmt::format("its thread block has no so many of kind {}; expected one that it has",
                           in_quotes(kind)));
  }

  template <class Visit>
  void for_each_channel(const JsonPlace& op, Block& block, Visit&& visit, bool sends) {
    const std::string& kind = channel_kind(op.at("channel_type"));
    const JsonPlace ids = op.list("channel_ids");
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const JsonPlace id = ids.entry(i);
      visit(signals_of(block, kind, id, sends), id);
    }
  }

  // The channel to or from the peer that is the j-th to that peer, whose j-th to us is its other
  // end.
  Signals& signals_of(const Block& block, const std::string& kind, const JsonPlace& id,
                      bool sends) {
    const std::uint32_t number = listed(block, "channels", "channel_type", "channel_ids", kind, id);
    const std::vector<std::uint32_t>& peers = memory_.peers(block.gpu, kind);
    if (number >= peers.size()) {
      id.fail(fmt::format("channel {} of kind {}; expected one of the GPU's {}", number,
                          in_quotes(kind), peers.size()));
    }
    const std::uint32_t peer = peers[number];
    const auto j =
        static_cast<std::uint32_t>(std::count(peers.begin(), peers.begin() + number, peer));
    const RankId src(sends ? block.gpu : peer);
    const RankId dst(sends ? peer : block.gpu);
    Signals& all = signals_[{kind, src, dst, j}];
    if (!all.channel.valid()) {
      Channel channel;
      channel.src = src;
      channel.dst = dst;
      channel.service = Service::kEager;
      all.channel = builder_.add_channel(channel);
    }
    return all;
  }

  void signal(Signals& all, Block& block) {
    all.sent.push_back(next(block, builder_.send(block.at, all.channel, {})));
    end(block);
  }

  struct Side {
    std::uint32_t gpu = 0;
    Slice slice;
  };

  // Chunks of this GPU's memory, or of another's.
  Side side(const JsonPlace& op, const JsonPlace& buffer, const Block& block) const {
    const std::uint64_t first = buffer.at("index").number(kMostPlanChunks);
    const std::uint64_t count = buffer.at("size").number(kMostPlanChunks);
    Side out;
    out.gpu = block.gpu;
    if (buffer.has("type")) {
      const JsonPlace type = buffer.at("type");
      out.slice = memory_.chunks(block.gpu, number_of(type), first, count, buffer);
    } else {
      const JsonPlace id = buffer.at("buffer_id");
      const std::uint32_t number = listed(block, "remote_buffer_refs", "access_channel_type",
                                          "remote_buffer_ids", op.at("channel_type").text(), id);
      const JsonPlace remote = block.gpu_place->list("remote_buffers");
      if (number >= remote.size()) {
        id.fail(
            fmt::format("remote buffer {}; expected one of the GPU's {}", number, remote.size()));
      }
      const JsonPlace entry = remote.entry(number);
      out.gpu = entry.at("rank").number32(count_ - 1);
      const JsonPlace type = entry.at("type");
      out.slice = memory_.chunks(out.gpu, number_of(type), first, count, buffer);
    }
    if (op.has("tbg_info")) take_part(op.at("tbg_info"), out.slice);
    return out;
  }

  static std::uint32_t number_of(const JsonPlace& type) {
    const std::string& name = type.text();
    if (name == "i") return 0;
    if (name == "o") return 1;
    if (name == "s") return 2;
    type.fail(fmt::format("buffer {}; expected i, o or s", in_quotes(name)));
  }

  // A thread block of a group does a part.
  void take_part(const JsonPlace& group, Slice& slice) const {
    const std::uint64_t size = group.at("tbg_size").number(0xffff);
    const JsonPlace id = group.at("tb_id");
    if (id.number() >= size) id.fail(fmt::format("expected less than tbg_size, {}", size));
    const std::uint64_t units = slice.bytes / memory_.alignment();
    const auto begin = [&](std::uint64_t k) {
      return (k * (units / size) + std::min(k, units % size)) * memory_.alignment();
    };
    slice.offset += begin(id.number());
    slice.bytes = begin(id.number() + 1) - begin(id.number());
    if (slice.bytes == 0) id.fail("no bytes are left for it; expected larger chunks (--chunk)");
  }

  std::vector<Side> sides(const JsonPlace& op, std::string_view key, const Block& block) const {
    const JsonPlace list = op.list(key);
    std::vector<Side> out;
    for (std::size_t i = 0; i < list.size(); ++i) out.push_back(side(op, list.entry(i), block));
    return out;
  }

  // What the runtime carries out of a move, and no more: over memory it signals nothing, and of all
  // sources takes the first one's buffer; it reads from another GPU through memory only, and copies
  // one pair.
  void require_as_carried_out(const JsonPlace& op, const std::string& name) const {
    const JsonPlace from = op.list("src_buff");
    if (name == "copy") {
      if (from.size() > 1) op.fail(fmt::format("{} sources; expected one", from.size()));
      return;
    }
    const JsonPlace kind = op.at("channel_type");
    const bool memory = channel_kind(kind) == "memory";
    if (name == "get") return require_memory(op, name);
    if (!memory) return;
    if (name != "put") {
      kind.fail(
          fmt::format("{} signals nothing over memory channels; expected port, or a put and a "
                      "signal",
                      name));
    }
    for (std::size_t i = 1; i < from.size(); ++i) {
      const JsonPlace first = from.entry(0);
      const JsonPlace other = from.entry(i);
      const JsonPlace type = other.at("type");
      if (type.text() == first.at("type").text()) continue;
      type.fail(
          fmt::format("buffer {}, and of the first source {}; expected one for all sources "
                      "of a put over memory channels",
                      type.text(), first.at("type").text()));
    }
  }
  static void require_memory(const JsonPlace& op, const std::string& name) {
    const JsonPlace kind = op.at("channel_type");
    if (channel_kind(kind) == "memory") return;
    kind.fail(fmt::format("{} over port channels; expected memory", name));
  }

  // Each source to its target, of which the operation's name says whose may be another GPU's.
  void move(const JsonPlace& op, const std::string& name, Block& block) {
    require_as_carried_out(op, name);
    const std::vector<Side> from = sides(op, "src_buff", block);
    const std::vector<Side> to = sides(op, "dst_buff", block);
    if (from.size() != to.size() || from.empty()) {
      op.fail(fmt::format("{} sources and {} targets; expected as many", from.size(), to.size()));
    }
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (from[i].slice.bytes != to[i].slice.bytes) {
        op.fail(fmt::format("source {} has {} bytes, and its target {}; expected as many", i,
                            from[i].slice.bytes, to[i].slice.bytes));
      }
      const bool local = from[i].gpu == block.gpu && to[i].gpu == block.gpu;
      if (name == "copy"  ? !local
          : name == "get" ? to[i].gpu != block.gpu
                          : from[i].gpu != block.gpu) {
        op.fail("memory of another GPU; expected that of its own");
      }
      if (local) {
        next(block, builder_.copy(block.at, from[i].slice, to[i].slice));
      } else if (name == "get") {
        fetch(block, from[i], to[i].slice);
      } else {
        store(block, from[i].slice, to[i]);
      }
      if (name.starts_with("pws")) {
        const JsonPlace ids = op.list("channel_ids");
        if (i >= ids.size()) op.fail("fewer channels than targets; expected one for each");
        const JsonPlace id = ids.entry(i);
        Signals& all = signals_of(block, channel_kind(op.at("channel_type")), id, true);
        all.sent.push_back(next(block, builder_.send(block.at, all.channel, {})));
      }
      end(block);
    }
  }

  ChannelId data_channel(std::uint32_t from, std::uint32_t to) {
    return builder_.channel(RankId(from), RankId(to));
  }
  void fetch(Block& block, const Side& from, const Slice& to) {
    written_[block.gpu] = true;
    next(block, builder_.get(block.at, data_channel(block.gpu, from.gpu), from.slice, to));
  }
  void store(Block& block, const Slice& from, const Side& to) {
    written_[to.gpu] = true;
    next(block,
         builder_.put(block.at, data_channel(block.gpu, to.gpu), from, to.slice, Notify::kNone));
  }

  // As the runtime has it, re and res add up what is of their own GPU, rre and rres what is of
  // others; res and rres alone write further targets, which are of others.
  void require_sides(const JsonPlace& op, const std::string& name, const Block& block,
                     std::span<const Side> from, std::span<const Side> to) const {
    const bool reads = name.starts_with("rr");
    const bool writes = name.ends_with('s');
    if (op.has("reduce_op") && op.at("reduce_op").text() != "sum") {
      const JsonPlace reduction = op.at("reduce_op");
      reduction.fail(fmt::format("{} is not supported; expected sum", in_quotes(reduction.text())));
    }
    for (const Side& source : from.subspan(1)) {
      if ((source.gpu != block.gpu) == reads) continue;
      op.fail(fmt::format("{} with a further source of {}; expected {}", name,
                          reads ? "its own GPU" : "another GPU",
                          reads ? "those of others" : "those of its own"));
    }
    if (!writes && to.size() > 1)
      op.fail(fmt::format("{} with several targets; expected one", name));
    for (const Side& target : to.subspan(1)) {
      if (target.gpu == block.gpu) {
        op.fail(
            fmt::format("{} with a further target of its own GPU; expected those of others", name));
      }
    }
    if (reads || to.size() > 1) require_memory(op, name);
  }

  // The first source and target are of its own; further sources are read, further targets written.
  void reduce(const JsonPlace& op, const std::string& name, Block& block) {
    const std::vector<Side> from = sides(op, "src_buff", block);
    const std::vector<Side> to = sides(op, "dst_buff", block);
    if (from.size() < 2 || to.empty() || from[0].gpu != block.gpu || to[0].gpu != block.gpu) {
      op.fail("expected two sources and a target or more, the first ones of its own GPU");
    }
    require_sides(op, name, block, from, to);
    const std::uint64_t bytes = to[0].slice.bytes;
    std::vector<Slice> operands;
    std::vector<OpId> read;
    for (const Side& source : from) {
      if (source.slice.bytes != bytes) op.fail("operands of different sizes; expected one size");
      if (source.gpu == block.gpu) {
        operands.push_back(source.slice);
        continue;
      }
      const Slice kept{builder_.add_buffer(RankId(block.gpu), bytes), 0, bytes};
      fetch(block, source, kept);
      read.push_back(block.last);
      block.last = block.sync;
      operands.push_back(kept);
    }
    const OpId sum = builder_.add(
        builder_.op(OpKind::kReduce, block.at, {}, std::span<const Slice>(operands), to[0].slice));
    builder_.after(read, sum);
    builder_.after(block.sync, sum);
    for (std::size_t i = 1; i < to.size(); ++i) {
      if (to[i].slice.bytes != bytes) op.fail("targets of different sizes; expected one size");
      block.last = sum;
      store(block, to[0].slice, to[i]);
      end(block);
    }
    block.last = sum;
    end(block);
  }

  std::string called(OpId id) const {
    const auto& [gpu, block, step] = origin_[id.value];
    return fmt::format("operation {} of thread block {} of GPU {}", step, block, gpu);
  }

  void check_signals() const {
    for (const auto& [ends, all] : signals_) {
      if (all.sent.size() == all.received.size()) continue;
      const bool sends = all.sent.size() > all.received.size();
      const OpId one = sends ? all.sent[all.received.size()] : all.received[all.sent.size()];
      root_.at("gpus").fail(fmt::format(
          "{} {} signal {} from GPU {} to GPU {}, which none {}; expected as many waits as signals",
          called(one), sends ? "sends" : "waits for",
          std::min(all.sent.size(), all.received.size()), std::get<1>(ends).value,
          std::get<2>(ends).value, sends ? "waits for" : "sends"));
    }
  }

  [[noreturn]] void refuse(const std::vector<OpId>& cycle) const {
    root_.at("gpus").fail(
        fmt::format("deadlock: {} wait for each other; expected an order in which all can end",
                    cycle_text(cycle, 4, [&](OpId id) { return called(id); })));
  }

  const JsonPlace& root_;
  PlanMemory memory_;
  const std::uint32_t count_;
  ProgramWriter builder_;
  std::map<std::tuple<std::string, RankId, RankId, std::uint32_t>, Signals> signals_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Meeting> meetings_;  // of a GPU: id, which time
  std::vector<bool> written_;  // by GPU: another one's bytes come there
  std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> origin_;  // of operations
};

}  // namespace

Schedule read_mscclpp(std::string_view text, std::string_view file, const MscclOptions& options) {
  const JsonDocument document(text, file);
  const JsonPlace root = document.root();
  return PlanImporter(root, options).import();
}

bool looks_like_mscclpp(std::string_view text) {
  const auto skip = [&] {
    const std::size_t start = text.find_first_not_of(" \t\r\n");
    text.remove_prefix(start == std::string_view::npos ? text.size() : start);
  };
  skip();
  if (!text.starts_with('{')) return false;
  text.remove_prefix(1);
  skip();
  return text.starts_with("\"name\"") || text.starts_with("\"collective\"");
}

}  // namespace slackline::sched
