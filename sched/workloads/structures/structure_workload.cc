#include "sched/workloads/structures/structure_workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "base/enum_names.h"
#include "base/error.h"
#include "base/mix.h"
#include "sched/value_bytes.h"

namespace slackline::sched {
namespace {

// What is drawn is in no order, so the processor is told so many draws before.
constexpr std::uint32_t kLookAhead = 8;

enum Site : std::uint64_t { kHomeRank = 1, kHomeSlot, kSought, kTarget, kSize };

// None of which is 0: no byte of a value is.
class KeySet {
 public:
  explicit KeySet(std::uint64_t most) : places_(std::bit_ceil(2 * most + 1), 0) {}

  /// Brings the place of a key that is inserted soon into the cache.
  void look_ahead(std::uint32_t key) const {
    __builtin_prefetch(&places_[static_cast<std::size_t>(mixed(key)) & (places_.size() - 1)]);
  }
  /// Whether it was not there.
  bool insert(std::uint32_t key) {
    const std::size_t mask = places_.size() - 1;
    std::size_t place = static_cast<std::size_t>(mixed(key)) & mask;
    for (; places_[place] != 0; place = (place + 1) & mask) {
      if (places_[place] == key) return false;
    }
    places_[place] = key;
    return true;
  }

 private:
  std::vector<std::uint32_t> places_;
};

class Workload {
 public:
  Workload(const Spec& spec, bool table)
      : spec_(spec), options_(spec.own<StructureOptions>()), table_(table), out_() {
    check();
    for (std::uint64_t site = 0; site < of_site_.size(); ++site) {
      of_site_[site] = mixed(mixed(options_.seed) + site);
    }
    const bool hosted = !table && options_.queues == QueueHosts::kOne;
    clients_ = options_.clients != 0 ? options_.clients : spec.multicast.ranks - (hosted ? 1 : 0);
    first_client_ = spec.multicast.ranks - clients_;
    out_.parts.resize(spec.multicast.ranks);
    out_.barrier = options_.work == StructureWork::kBoth && options_.phases == 2 && !is_local();
  }

  StructureWorkload run() {
    make_elements();
    count_and_size();
    place_elements();
    out_.ops.reserve(values_.size() * (options_.work == StructureWork::kBoth ? 2 : 1));
    for (std::uint32_t c = 0; c < clients_; ++c) {
      if (options_.work == StructureWork::kBoth && options_.phases == 1) {
        for (std::uint32_t i = 0; i < options_.operations; ++i) {
          add_write(c, i);
          add_read(c, i, 0);
        }
        continue;
      }
      if (writes()) {
        for (std::uint32_t i = 0; i < options_.operations; ++i) add_write(c, i);
      }
      if (reads()) {
        for (std::uint32_t i = 0; i < options_.operations; ++i) add_read(c, i, writes() ? 1 : 0);
      }
    }
    return std::move(out_);
  }

 private:
  // What is known of one by its value, and by which client's it is. It is made up each time: finds
  // look for elements here and there, which a table of all this would be too large for.
  struct Element {
    std::size_t number;  // by client and index
    ValueId value;
    std::uint32_t target;
    std::uint64_t entry;
  };

  bool writes() const { return options_.work != StructureWork::kRead; }
  bool reads() const { return options_.work != StructureWork::kWrite; }
  bool is_local() const { return options_.level == Promise::kLocal; }
  bool by_call() const { return options_.via == StructureVia::kAm; }
  bool may_be_own() const { return options_.targets == StructureTargets::kAny; }
  std::string_view write_name() const {
    return name(table_ ? StructureAccess::kInsert : StructureAccess::kPush);
  }
  std::string_view read_name() const {
    return name(table_ ? StructureAccess::kFind : StructureAccess::kPop);
  }

  void check() const {
    if (spec_.multicast.ranks == 0) throw InputError("ranks: 0; expected at least 1");
    if (options_.operations == 0) throw InputError("operations: 0; expected at least 1");
    if (spec_.multicast.ranks == 1 && !is_local() && !may_be_own()) {
      throw InputError("ranks: 1; expected at least 2: operations go to another rank");
    }
    if (spec_.transfers.in_flight == 0) {
      throw InputError("in-flight: 0; expected at least 1 operation of a rank under way");
    }
    const bool hosted = !table_ && options_.queues == QueueHosts::kOne;
    const std::uint32_t most = spec_.multicast.ranks - (hosted ? 1 : 0);
    if (options_.clients > most) {
      throw InputError(fmt::format("clients: {} of {} ranks{}; expected at most {}",
                                   options_.clients, spec_.multicast.ranks,
                                   hosted ? ", of which rank 0 serves" : "", most));
    }
    if (options_.load.value == 0 || options_.load.value > 1'000'000) {
      throw InputError(fmt::format("load: {}; expected a load factor above 0 and at most 1",
                                   options_.load.value / 1e6));
    }
    check_level();
    check_entries();
  }

  void check_entries() const {
    const std::uint64_t entry = options_.entry;
    if (entry < 8 || entry % 8 != 0 || entry > kMostEntry) {
      throw InputError(
          fmt::format("entry: {}; expected a multiple of 8 bytes from 8 to {}", entry, kMostEntry));
    }
    const bool drawn = options_.sizes == EntrySizes::kDrawn;
    if (drawn && entry == 8) {
      throw InputError("sizes: drawn with entry=8; expected entries of several words");
    }
    if (drawn && options_.level == Promise::kChecksum) {
      throw InputError(
          "sizes: drawn with level=checksum; expected fixed: the word that tells whether an entry "
          "has arrived stands behind it, at one place");
    }
    if (may_be_own() && is_local()) {
      throw InputError(
          "targets: any with level=cl; expected others: those operations are on their "
          "own rank's queue alone");
    }
    if (may_be_own() && !table_ && options_.queues == QueueHosts::kOne) {
      throw InputError("targets: any with queues=one; expected others: rank 0 only serves");
    }
    if (options_.claim != Claim::kAdd && (by_call() || is_local())) {
      throw InputError(
          fmt::format("claim: no fetch_add, with {}; expected add: no place is claimed "
                      "by atomics there",
                      by_call() ? "via=am" : "level=cl"));
    }
  }

  void check_level() const {
    const Promise level = options_.level;
    const auto refuse = [&](std::string_view expected) {
      throw InputError(fmt::format("level: '{}'; expected {}", name(level), expected));
    };
    if (by_call() && level != Promise::kReadWrite) {
      refuse("crw: handlers run one after another, which is that already");
    }
    const bool both = options_.work == StructureWork::kBoth && options_.phases == 1;
    if (both && (level == Promise::kWrite || level == Promise::kRead)) {
      const bool first = level == Promise::kWrite;
      throw InputError(
          fmt::format("level: '{}' with phases=1: rank {}'s {} (operation {}) may overlap a {} of "
                      "another rank, "
                      "which {} forbids; expected phases=2 or level=crw",
                      name(level), spec_.multicast.ranks - 1, first ? write_name() : read_name(),
                      first ? 0 : 1, first ? read_name() : write_name(), name(level)));
    }
    if (both && spec_.transfers.in_flight != 1) {
      throw InputError(
          fmt::format("in-flight: {} with phases=1: a {} needs what its rank's {} "
                      "before it wrote; expected 1",
                      spec_.transfers.in_flight, read_name(), write_name()));
    }
    if (table_ && (level == Promise::kLocal || level == Promise::kChecksum)) {
      refuse("crw, cw or cr, the levels of a hash table");
    }
    if (level == Promise::kWrite && !writes()) {
      refuse(fmt::format("crw or cr: a {} is no write", read_name()));
    }
    if (level == Promise::kRead && writes()) {
      refuse(reads()
                 ? std::string("crw or cw (whose reads, behind a barrier, are cr)")
                 : fmt::format("crw or cw: {} {} is no read", table_ ? "an" : "a", write_name()));
    }
    if (is_local() && options_.queues == QueueHosts::kOne) {
      throw InputError(
          "queues: one with level=cl; expected each: an operation there is on its own "
          "rank's queue");
    }
  }

  // A client's elements are the next values whose keys nobody has yet and whose home, if they have
  // one, is another rank.
  void make_elements() {
    const std::uint64_t count = std::uint64_t{clients_} * options_.operations;
    if (count > 1u << 29) {
      throw InputError(fmt::format("operations: {} of {} ranks; expected at most {} together",
                                   options_.operations, clients_, 1u << 29));
    }
    values_.resize(count);
    in_part_.assign(spec_.multicast.ranks, 0);
    KeySet keys(count);
    for (std::uint32_t c = 0; c < clients_; ++c) {
      std::uint64_t value = c;
      for (std::uint32_t i = 0; i < options_.operations; ++i, value += clients_) {
        const std::uint64_t ahead = value + std::uint64_t{kLookAhead} * clients_;
        keys.look_ahead(key_of(entry_of(ValueId(static_cast<std::uint32_t>(ahead)))));
        for (;; value += clients_) {
          if (value > 0xf0000000u) {
            throw InputError(fmt::format("operations: {} of {} ranks; expected fewer",
                                         options_.operations, clients_));
          }
          const ValueId id(static_cast<std::uint32_t>(value));
          const std::uint64_t entry = entry_of(id);
          const std::uint32_t target = target_of(c, i, entry);
          if (table_ && target == rank_of(c) && !may_be_own()) continue;
          if (!keys.insert(key_of(entry))) continue;
          values_[number_of(c, i)] = id;
          ++in_part_[target];
          out_.first_value = std::max(out_.first_value, id.value + 1);
          break;
        }
      }
    }
  }

  // At most kMostEntry.
  std::uint32_t size_of(ValueId value) const {
    if (options_.sizes == EntrySizes::kFixed) return static_cast<std::uint32_t>(options_.entry);
    const auto words = static_cast<std::uint32_t>(options_.entry / 8);
    return 8 * (1 + below(drawn(kSize, value.value), words));
  }

  std::uint32_t home_rank_of(std::uint64_t entry) const {
    return below(drawn(kHomeRank, key_of(entry)), spec_.multicast.ranks);
  }
  std::uint32_t target_of(std::uint32_t client, std::uint32_t i, std::uint64_t entry) const {
    const std::uint32_t ranks = spec_.multicast.ranks;
    if (table_) return home_rank_of(entry);
    const std::uint32_t rank = rank_of(client);
    if (is_local()) return rank;
    if (options_.queues == QueueHosts::kOne) return 0;
    if (may_be_own()) return below(drawn(kTarget, rank, i), ranks);
    const std::uint32_t other = below(drawn(kTarget, rank, i), ranks - 1);
    return other + (other >= rank ? 1 : 0);
  }

  void count_and_size() {
    for (std::size_t r = 0; r < in_part_.size() && !writes(); ++r) {
      out_.parts[r].given.reserve(in_part_[r]);
    }
    const auto fullest = std::max_element(in_part_.begin(), in_part_.end());
    const auto rank = fullest - in_part_.begin();
    const bool reused = !table_ && options_.work == StructureWork::kBoth && options_.phases == 1 &&
                        !by_call() && options_.level != Promise::kChecksum;
    const std::uint64_t needed =
        reused ? std::min<std::uint64_t>(*fullest, is_local() ? 1 : clients_) : *fullest;
    out_.slots = options_.slots;
    if (out_.slots == 0) {
      const std::uint64_t ppm = table_ ? options_.load.value : 1'000'000;
      out_.slots = (std::max<std::uint64_t>(*fullest, 1) * 1'000'000 + ppm - 1) / ppm;
    }
    if (out_.slots >= needed) return;
    if (table_) {
      throw InputError(fmt::format(
          "slots: {}; rank {}'s part of the table gets {} keys, a load factor of {:.2f}; expected "
          "at least {}",
          out_.slots, rank, *fullest,
          static_cast<double>(*fullest) / static_cast<double>(out_.slots), needed));
    }
    throw InputError(
        fmt::format("slots: {}; rank {}'s queue gets {} elements; expected at least {}", out_.slots,
                    rank, *fullest, needed));
  }

  // Where they stand if they come in order of client and index: what is there from the start, and
  // what calls do.
  void place_elements() {
    const bool given = !writes();
    if (!given && !by_call() && !is_local()) return;
    // One-sided operations on a table begin at the element's home, wherever it is.
    if (!table_ || by_call()) places_.resize(values_.size());
    std::vector<std::uint64_t> next(spec_.multicast.ranks, 0);
    std::vector<std::vector<bool>> taken(table_ ? spec_.multicast.ranks : 0);
    const auto place = [&](const Element& e) {
      std::uint64_t at = 0;
      if (!table_) {
        at = next[e.target]++ % out_.slots;
      } else {
        std::vector<bool>& part = taken[e.target];
        if (part.empty()) part.resize(out_.slots);
        at = home_of(e);
        while (part[at]) at = at + 1 == out_.slots ? 0 : at + 1;
        part[at] = true;
      }
      if (!places_.empty()) places_[e.number] = at;
      if (given) out_.parts[e.target].given.push_back({at, e.value, size_of(e.value)});
    };
    if (!table_ && !given) {  // as calls come, about
      for (std::uint32_t i = 0; i < options_.operations; ++i) {
        for (std::uint32_t c = 0; c < clients_; ++c) place(element(c, i));
      }
    } else {
      for (std::uint32_t c = 0; c < clients_; ++c) {
        for (std::uint32_t i = 0; i < options_.operations; ++i) place(element(c, i));
      }
    }
  }
  std::uint64_t home_of(const Element& e) const {
    return drawn(kHomeSlot, key_of(e.entry)) % out_.slots;
  }

  // structure_draw() with the spec's seed, of which the first half is there already.
  std::uint64_t drawn(Site site, std::uint64_t b, std::uint64_t c = 0) const {
    return mixed(mixed(of_site_[site] + b) + c);
  }

  std::uint32_t rank_of(std::uint32_t client) const { return first_client_ + client; }
  std::size_t number_of(std::uint32_t client, std::uint32_t i) const {
    return std::size_t{client} * options_.operations + i;
  }
  Element element(std::uint32_t client, std::uint32_t i) const {
    const std::size_t number = number_of(client, i);
    const std::uint64_t entry = entry_of(values_[number]);
    return {number, values_[number], target_of(client, i, entry), entry};
  }

  StructureOp& add(std::uint32_t client, const Element& e, StructureAccess access) {
    StructureOp op;
    op.rank = RankId(rank_of(client));
    op.index = out_.ops.empty() || out_.ops.back().rank != op.rank ? 0 : out_.ops.back().index + 1;
    op.access = access;
    op.target = RankId(e.target);
    op.value = e.value;
    op.bytes = size_of(e.value);
    if (!places_.empty()) {
      op.slot = places_[e.number];
    } else if (table_) {
      op.slot = home_of(e);
    }
    out_.ops.push_back(op);
    return out_.ops.back();
  }

  void add_write(std::uint32_t client, std::uint32_t i) {
    add(client, element(client, i), table_ ? StructureAccess::kInsert : StructureAccess::kPush)
        .level = options_.level;
  }

  void add_read(std::uint32_t client, std::uint32_t i, std::uint8_t phase) {
    StructureOp& op = add(client, table_ ? sought(client, i) : element(client, i),
                          table_ ? StructureAccess::kFind : StructureAccess::kPop);
    op.level = options_.level == Promise::kWrite ? Promise::kRead : options_.level;
    op.phase = phase;
    if (table_ || by_call() || is_local()) return;
    op.value = ValueId::none();
    op.bytes = static_cast<std::uint32_t>(options_.entry);
  }

  // What a find looks for: any other rank's key, or of the client's own so far where others are not
  // sure to be there.
  Element sought(std::uint32_t client, std::uint32_t i) const {
    const bool own = options_.work == StructureWork::kBoth && options_.phases == 1;
    if (!own) __builtin_prefetch(&values_[any_number(draw_sought(client, i + kLookAhead, 0))]);
    for (std::uint64_t k = 0; k < kMostSought; ++k) {
      const std::uint64_t draw = draw_sought(client, i, k);
      if (own) return element(client, below(draw, i + 1));
      const Element e = table_element(any_number(draw));
      if (e.target != rank_of(client) || may_be_own()) return e;
    }
    return element(client, i);
  }

  std::uint64_t draw_sought(std::uint32_t client, std::uint32_t i, std::uint64_t k) const {
    return drawn(kSought, rank_of(client), i * kMostSought + k);
  }
  std::size_t any_number(std::uint64_t draw) const {
    return below(draw, static_cast<std::uint32_t>(values_.size()));
  }
  // Of a table, where the entry alone says where it is at home.
  Element table_element(std::size_t number) const {
    const std::uint64_t entry = entry_of(values_[number]);
    return {number, values_[number], home_rank_of(entry), entry};
  }

  static constexpr std::uint64_t kMostSought = 64;  // draws of one find

  const Spec& spec_;
  const StructureOptions& options_;
  const bool table_;
  std::uint32_t clients_ = 0;
  std::uint32_t first_client_ = 0;
  std::array<std::uint64_t, kSize + 1> of_site_{};
  std::vector<ValueId> values_;         // of elements, by client and index
  std::vector<std::uint64_t> in_part_;  // by rank: how many elements have it for a target
  // By client and index, where it is known before the run: where the element stands.
  std::vector<std::uint64_t> places_;
  StructureWorkload out_;
};

}  // namespace

std::string_view name(StructureAccess access) {
  constexpr base::EnumNames<StructureAccess, 4> kNames = {"insert", "find", "push", "pop"};
  return kNames[access];
}

std::uint64_t structure_draw(std::uint64_t seed, std::uint64_t a, std::uint64_t b,
                             std::uint64_t c) {
  return mixed(mixed(mixed(mixed(seed) + a) + b) + c);
}

std::uint64_t entry_of(ValueId value) { return value_word(value, 0); }

StructureWorkload table_workload(const Spec& spec) { return Workload(spec, true).run(); }

StructureWorkload queue_workload(const Spec& spec) { return Workload(spec, false).run(); }

}  // namespace slackline::sched
