#include "sched/pattern/sized_pieces.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "base/read_file.h"
#include "base/split.h"
#include "sched/pass/lower_credits.h"
#include "sched/pattern/shared_options.h"
#include "sched/program_writer.h"

namespace slackline::sched {
namespace {

struct SizedPiece {
  RankId src;
  RankId dst;
  std::uint64_t bytes = 0;
  std::uint32_t step = 0;
};
using SizedPieces = std::vector<SizedPiece>;

std::uint64_t blocks_of(std::uint64_t bytes, std::uint64_t block_bytes) {
  return bytes == 0 ? 0 : (bytes - 1) / block_bytes + 1;
}

std::uint64_t size_of(const Spec& spec, std::size_t place) {
  const PieceSizes& sizes = spec.own<PieceSizes>();
  return sizes.file.empty() ? sizes.each : sizes.listed[place];
}

SizedPieces alltoallv_pieces(const Spec& spec) {
  const std::uint32_t n = spec.multicast.ranks;
  SizedPieces pieces;
  for (std::uint32_t s = 0; s < n; ++s) {
    for (std::uint32_t r = 0; r < n; ++r) {
      const std::uint32_t other = std::has_single_bit(n) ? r ^ s : (r + s) % n;
      pieces.push_back({RankId(r), RankId(other), size_of(spec, std::size_t{r} * n + other),
                        s == 0 ? 0 : s - 1});
    }
  }
  return pieces;
}

SizedPieces rooted_pieces(const Spec& spec, bool to_root) {
  const std::uint32_t n = spec.multicast.ranks;
  SizedPieces pieces;
  for (std::uint32_t s = 0; s < n; ++s) {
    const RankId other((spec.multicast.root.value + s) % n);
    SizedPiece piece{spec.multicast.root, other, size_of(spec, other.value), s == 0 ? 0 : s - 1};
    if (to_root) std::swap(piece.src, piece.dst);
    pieces.push_back(piece);
  }
  return pieces;
}
SizedPieces scatterv_pieces(const Spec& spec) { return rooted_pieces(spec, false); }
SizedPieces gatherv_pieces(const Spec& spec) { return rooted_pieces(spec, true); }

// Where each piece stands at its two ends.
struct Memory {
  Memory(const SizedPieces& pieces, std::uint32_t ranks)
      : sent(ranks, 0), kept(ranks, 0), from(pieces.size()), to(pieces.size()) {
    std::vector<std::uint32_t> order(pieces.size());
    for (std::uint32_t p = 0; p < order.size(); ++p) order[p] = p;
    std::ranges::sort(order, {}, [&](std::uint32_t p) { return pieces[p].dst; });
    for (const std::uint32_t p : order) from[p] = add(sent[pieces[p].src.value], pieces[p].bytes);
    kept = sent;
    std::ranges::sort(order, {}, [&](std::uint32_t p) { return pieces[p].src; });
    for (const std::uint32_t p : order) to[p] = add(kept[pieces[p].dst.value], pieces[p].bytes);
  }

  static std::uint64_t add(std::uint64_t& end, std::uint64_t bytes) {
    const std::uint64_t begin = end;
    if (bytes > (1ull << 62) - end) {
      throw InputError("sizes: more than 2^62 bytes at a rank; expected at most that together");
    }
    end += bytes;
    return begin;
  }

  std::vector<std::uint64_t> sent;  // by each rank
  std::vector<std::uint64_t> kept;  // sent, and received: its buffer
  std::vector<std::uint64_t> from;  // of each piece
  std::vector<std::uint64_t> to;
};

// A rank's messages stand in its program by step, what comes before what goes.
void write_program(ProgramWriter& out, const Spec& spec, const SizedPieces& pieces,
                   const Memory& memory) {
  const std::uint32_t n = spec.multicast.ranks;
  std::vector<std::vector<std::uint32_t>> of_rank(n);
  for (const bool comes : {true, false}) {
    for (std::uint32_t p = 0; p < pieces.size(); ++p) {
      const SizedPiece& piece = pieces[p];
      if (piece.bytes == 0 || (comes && piece.src == piece.dst)) continue;
      of_rank[(comes ? piece.dst : piece.src).value].push_back(p);
    }
  }
  const std::uint32_t bound = spec.transfers.in_flight;
  for (std::uint32_t r = 0; r < n; ++r) {
    const RankId rank(r);
    std::ranges::stable_sort(of_rank[r], {}, [&](std::uint32_t p) { return pieces[p].step; });
    std::vector<OpId> sent;
    for (const std::uint32_t p : of_rank[r]) {
      const SizedPiece& piece = pieces[p];
      const OpPlace at{rank, piece.step};
      const Slice from{BufferId(r), memory.from[p], piece.bytes};
      const Slice to{BufferId(r), memory.to[p], piece.bytes};
      if (piece.src == piece.dst) {
        out.copy(at, from, to);
        continue;
      }
      const bool comes = piece.dst == rank;
      const ChannelId on = out.channel(piece.src, piece.dst);
      const std::uint64_t block = spec.multicast.block_bytes;
      for (std::uint64_t done = 0; done < piece.bytes;
           done += std::min(block, piece.bytes - done)) {
        Slice part = comes ? to : from;
        part.offset += done;
        part.bytes = std::min(block, piece.bytes - done);
        if (comes) {
          out.receive(at, on, part);
          continue;
        }
        const OpId send = out.send(at, on, part);
        if (bound != 0 && sent.size() >= bound) out.after(sent[sent.size() - bound], send);
        sent.push_back(send);
      }
    }
  }
}

// Messages, and pieces that are none: no fewer than there are pieces.
std::uint64_t weight_of(const Spec& spec, std::uint64_t bytes) {
  return std::max<std::uint64_t>(1, blocks_of(bytes, spec.multicast.block_bytes));
}

// No fewer than it makes, and no fewer than pieces, which take memory too.
template <SizedPieces (*pieces_of)(const Spec&)>
std::uint64_t most_messages(const Spec& spec) {
  const std::uint64_t n = spec.multicast.ranks;
  const std::uint64_t pieces = pieces_of == alltoallv_pieces ? n * n : n;
  const PieceSizes& sizes = spec.own<PieceSizes>();
  if (sizes.file.empty()) {
    const std::uint64_t of_piece = weight_of(spec, sizes.each);
    return pieces > kMaxOps / of_piece ? kMaxOps : pieces * of_piece;
  }
  std::uint64_t messages = 0;
  for (const std::uint64_t bytes : sizes.listed) {
    messages += std::min(weight_of(spec, bytes), kMaxOps);
    if (messages > kMaxOps) return kMaxOps;
  }
  return messages;
}

template <SizedPieces (*pieces_of)(const Spec&)>
Schedule schedule_of(const Spec& spec) {
  check(spec.multicast);
  const SizedPieces pieces = pieces_of(spec);
  const std::uint32_t n = spec.multicast.ranks;
  const Memory memory(pieces, n);
  ProgramWriter out(n);
  out.set_title(format_spec(spec));
  std::uint64_t busiest = 0;  // of what a rank sends, and of what comes to one
  for (std::uint32_t r = 0; r < n; ++r) {
    const std::uint64_t comes = memory.kept[r] - memory.sent[r];
    busiest = std::max({busiest, memory.sent[r], comes});
    out.add_buffer(RankId(r), memory.kept[r]);
    if (memory.sent[r] != 0) out.add_pre({{BufferId(r), 0, memory.sent[r]}, ValueId(r), 0});
  }
  out.set_message_bytes(busiest);
  for (std::uint32_t p = 0; p < pieces.size(); ++p) {
    const SizedPiece& piece = pieces[p];
    if (piece.bytes == 0) continue;
    out.add_post({{BufferId(piece.dst.value), memory.to[p], piece.bytes},
                  ValueId(piece.src.value),
                  memory.from[p]});
  }
  write_program(out, spec, pieces, memory);
  return spec.credits.ready == Ready::kNone ? out.build()
                                            : lower_credits(out.build_draft(), spec.credits);
}

// With its two halves a message has those of its credit, and a rank one copy and one join.
template <SizedPieces (*pieces_of)(const Spec&)>
std::uint64_t ops_of(const Spec& spec) {
  const std::uint64_t of_one =
      most_messages<pieces_of>(spec) * (spec.credits.ready == Ready::kNone ? 2 : 4) +
      2 * std::uint64_t{spec.multicast.ranks};
  return of_one > kMaxOps ? of_one : of_one * spec.messages;
}

// So many sizes, a line for each rank if they are of `rows` ranks.
std::vector<std::uint64_t> read_sizes(const std::string& path, std::uint32_t rows,
                                      std::uint32_t columns) {
  constexpr std::uint64_t kMostOfSize = 64;
  const std::string text = [&] {
    try {
      return read_file(path, (std::uint64_t{1} << 20) + kMostOfSize * rows * columns);
    } catch (const InputError& error) {
      throw InputError(fmt::format("sizes: {}", error.what()));
    }
  }();
  std::vector<std::uint64_t> sizes;
  const std::size_t all = std::size_t{rows} * columns;
  std::string_view rest = text;
  for (std::size_t number = 1; !rest.empty(); ++number) {
    std::string_view line = base::take_item(rest, '\n');
    line = line.substr(0, line.find('#'));
    const std::string what = fmt::format("sizes: {}:{}", path, number);
    const std::size_t before = sizes.size();
    while (true) {
      const std::size_t begin = line.find_first_not_of(" \t\r,;");
      if (begin == std::string_view::npos) break;
      const std::size_t end = std::min(line.find_first_of(" \t\r,;", begin), line.size());
      if (sizes.size() == all) {
        throw InputError(fmt::format("{}: one size more; expected {}", what, all));
      }
      sizes.push_back(parse_bytes(line.substr(begin, end - begin), what));
      line.remove_prefix(end);
    }
    const std::size_t in_line = sizes.size() - before;
    if (rows > 1 && in_line != 0 && in_line != columns) {
      throw InputError(
          fmt::format("{}: {} sizes; expected {}, one for each rank", what, in_line, columns));
    }
  }
  if (sizes.size() != all) {
    throw InputError(fmt::format("sizes: {}: {} sizes; expected {}", path, sizes.size(), all));
  }
  return sizes;
}

// A size is of all pieces, and anything else a file.
template <bool of_all>
void read_sizes_option(const Option& option, std::string_view text, Spec& spec) {
  const std::uint32_t n = spec.multicast.ranks;
  PieceSizes& sizes = spec.edit_own<PieceSizes>();
  const bool begins_as_number = !text.empty() && text.front() >= '0' && text.front() <= '9';
  if (begins_as_number && text.find_first_not_of("0123456789.KMGTiB") == std::string_view::npos) {
    sizes.each = parse_bytes(text, option.key);
    return;
  }
  sizes.file = text;
  sizes.listed = read_sizes(sizes.file, of_all ? n : 1, n);
}

std::string write_sizes(const Option&, const Spec& spec) {
  const PieceSizes& sizes = spec.own<PieceSizes>();
  return sizes.file.empty() ? format_bytes(sizes.each) : sizes.file;
}

template <bool of_all>
constexpr auto kSizesOptions = option_list(kRanksOption,
                                           Option{"sizes", "a size, or a text file",
                                                  "alltoallv, scatterv, gatherv: of the pieces",
                                                  read_sizes_option<of_all>, write_sizes},
                                           kBlockOption);
constexpr auto kSizedLoweringOptions =
    option_list(kInFlightOption, kReadyOption, kStartOption, kWindowOption, kMessagesOption);
constexpr auto kAlltoallvOptions = option_list(kSizesOptions<true>, kSizedLoweringOptions);
constexpr auto kRootedOptions =
    option_list(kSizesOptions<false>, kRootOption, kSizedLoweringOptions);

}  // namespace

constinit const PatternEntry kAlltoallvPattern = {
    .name = "alltoallv",
    .summary = "every rank's piece for every rank, of sizes from a file, in pairs",
    .options = kAlltoallvOptions,
    .schedule = schedule_of<alltoallv_pieces>,
    .op_count = ops_of<alltoallv_pieces>,
    .one_message = true};

constinit const PatternEntry kScattervPattern = {
    .name = "scatterv",
    .summary = "a piece of the root's bytes to each rank, of sizes from a file",
    .options = kRootedOptions,
    .schedule = schedule_of<scatterv_pieces>,
    .op_count = ops_of<scatterv_pieces>,
    .one_message = true};

constinit const PatternEntry kGathervPattern = {
    .name = "gatherv",
    .summary = "every rank's bytes to the root, of sizes from a file",
    .options = kRootedOptions,
    .schedule = schedule_of<gatherv_pieces>,
    .op_count = ops_of<gatherv_pieces>,
    .one_message = true};

}  // namespace slackline::sched
