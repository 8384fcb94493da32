#include "hw/group/create.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/shown_text.h"
#include "hw/bytes.h"
#include "hw/group/control.h"

namespace slackline::hw {
namespace {

constexpr std::chrono::microseconds kNap{200};
// Who has heard everybody is in the next round; nobody is two ahead.
constexpr std::size_t kMostAhead = 2;
constexpr std::size_t kMostText = 64 << 10;

// Every message begins with one of these.
enum class Said : std::uint8_t { kWish, kRound, kRefused };
enum class Why : std::uint8_t { kOther, kInput, kLost };

Bytes pack(const GroupWish& wish, std::uint32_t from_root) {
  ByteWriter writer;
  writer.add(Said::kWish);
  writer.add_list(std::span<const std::uint32_t>(wish.ranks));
  writer.add_text(wish.options);
  writer.add(from_root);
  return writer.take();
}

}  // namespace

GroupMeeting::GroupMeeting(Mesh& mesh, GroupWish wish, std::chrono::milliseconds timeout)
    : mesh_(mesh),
      wish_(std::move(wish)),
      topic_(kGroupHello + wish_.id),
      deadline_(std::chrono::steady_clock::now() + timeout),
      timeout_(timeout),
      inbox_(wish_.ranks.size()) {}

void GroupMeeting::tell(std::span<const std::byte> bytes) {
  for (const std::uint32_t rank : wish_.ranks) {
    if (rank != mesh_.rank()) mesh_.send(rank, topic_, bytes);
  }
}

std::uint32_t GroupMeeting::agree(std::uint32_t from_root) {
  tell(pack(wish_, from_root));
  hear();
  return wish_.ranks.front() == mesh_.rank() ? from_root : told_by_root_;
}

std::vector<Bytes> GroupMeeting::exchange(std::span<const std::byte> bytes) {
  ByteWriter writer;
  writer.add(Said::kRound);
  writer.add_all(bytes);
  tell(writer.take());
  std::vector<Bytes> heard = hear();
  for (std::size_t m = 0; m < heard.size(); ++m) {
    if (wish_.ranks[m] == mesh_.rank()) heard[m].assign(bytes.begin(), bytes.end());
  }
  return heard;
}

void GroupMeeting::refuse(const std::exception& error) noexcept {
  try {
    Why why = Why::kOther;
    std::uint32_t rank = 0;
    if (const auto* lost = dynamic_cast<const PeerLost*>(&error)) {
      why = Why::kLost;
      rank = lost->rank();
    } else if (dynamic_cast<const InputError*>(&error) != nullptr) {
      why = Why::kInput;
    }
    ByteWriter writer;
    writer.add(Said::kRefused);
    writer.add_text(std::string_view(error.what()).substr(0, kMostText));
    writer.add(why);
    writer.add(rank);
    tell(writer.take());
  } catch (const std::exception&) {
    // The others' own timeouts are left to them.
  }
}

void GroupMeeting::throw_refusal(std::uint32_t from, ByteReader& reader) const {
  const std::string text = sched::shown(reader.text(kMostText));
  const auto why = reader.choice(Why::kLost);
  const auto rank = reader.get<std::uint32_t>();
  ByteReader::require(rank < mesh_.ranks(), "a rank that is none");
  if (why == Why::kLost) throw PeerLost(rank, text);
  if (why == Why::kInput) throw InputError(text);
  throw EnvironmentError(
      fmt::format("create_group: group {}: rank {} could not: {}", wish_.id, from, text));
}

// One message of every other member, and nothing of anybody who thinks otherwise.
std::vector<Bytes> GroupMeeting::hear() {
  const auto missing = [&] {
    std::vector<std::uint32_t> ranks;
    for (std::size_t m = 0; m < inbox_.size(); ++m) {
      if (wish_.ranks[m] != mesh_.rank() && inbox_[m].told.empty()) ranks.push_back(wish_.ranks[m]);
    }
    return ranks;
  };
  while (true) {
    std::vector<std::uint32_t> gone = missing();
    std::erase_if(gone, [&](std::uint32_t rank) { return !mesh_.is_gone(rank); });
    const std::vector<Loss> lost = mesh_.any_lost() ? mesh_.lost() : std::vector<Loss>{};
    listen();
    const std::vector<std::uint32_t> awaited = missing();
    if (awaited.empty()) break;
    for (const Loss& loss : lost) {
      if (std::ranges::find(wish_.ranks, loss.rank) == wish_.ranks.end()) continue;
      throw PeerLost(loss.rank, fmt::format("create_group: group {}: rank {} was lost: {}",
                                            wish_.id, loss.rank, loss.how));
    }
    for (const std::uint32_t rank : gone) {
      if (std::ranges::find(awaited, rank) == awaited.end()) continue;
      throw PeerLost(rank, fmt::format("create_group: group {}: rank {} has left", wish_.id, rank));
    }
    if (std::chrono::steady_clock::now() > deadline_) {
      const std::uint32_t rank = awaited.front();
      throw PeerLost(
          rank, fmt::format("create_group: group {}: rank {} did not come within {} s", wish_.id,
                            rank, std::chrono::duration<double>(timeout_).count()));
    }
    std::this_thread::sleep_for(kNap);
  }
  std::vector<Bytes> heard(inbox_.size());
  for (std::size_t m = 0; m < inbox_.size(); ++m) {
    if (inbox_[m].told.empty()) continue;
    heard[m] = std::move(inbox_[m].told.front());
    inbox_[m].told.pop_front();
  }
  return heard;
}

// Whoever is of another mind about the members may not be among this one's.
void GroupMeeting::listen() {
  for (std::uint32_t rank = 0; rank < mesh_.ranks(); ++rank) {
    if (rank == mesh_.rank()) continue;
    const auto member = std::ranges::find(wish_.ranks, rank);
    Member* const known = member == wish_.ranks.end()
                              ? nullptr
                              : &inbox_[static_cast<std::size_t>(member - wish_.ranks.begin())];
    while (const std::optional<Bytes> bytes = mesh_.try_receive(rank, topic_)) {
      read_from(rank, fmt::format("word about group {}", wish_.id), *bytes,
                [&](ByteReader& reader) { return hear(rank, known, reader); });
    }
  }
}

// First everybody's wish, then as many rounds as there are. Answers true.
bool GroupMeeting::hear(std::uint32_t rank, Member* member, ByteReader& reader) {
  const auto said = reader.choice(Said::kRefused);
  if (said == Said::kRefused) throw_refusal(rank, reader);
  if (said == Said::kWish) {
    compare(rank, reader);
    const auto from_root = reader.get<std::uint32_t>();
    if (rank == wish_.ranks.front()) told_by_root_ = from_root;
  }
  const std::span<const std::byte> bytes = reader.rest();
  // A round before its wish is of a meeting that came to nothing.
  if (member == nullptr || (!member->has_wished && said == Said::kRound)) return true;
  ByteReader::require(!member->has_wished || said == Said::kRound, "a second wish");
  ByteReader::require(member->told.size() < kMostAhead, "a round that has not begun");
  member->has_wished = true;
  member->told.emplace_back(bytes.begin(), bytes.end());
  return true;
}

void GroupMeeting::compare(std::uint32_t rank, ByteReader& reader) const {
  const std::vector<std::uint32_t> ranks = reader.list<std::uint32_t>();
  const std::string options = reader.text();
  if (ranks != wish_.ranks) {
    throw InputError(fmt::format(
        "create_group: group {}: rank {} gave the members {}; rank {} gave {}", wish_.id,
        mesh_.rank(), fmt::join(wish_.ranks, " "), rank, fmt::join(ranks, " ")));
  }
  if (options != wish_.options) {
    throw InputError(fmt::format("create_group: group {}: rank {} gave {}; rank {} gave {}",
                                 wish_.id, mesh_.rank(), wish_.options, rank, options));
  }
}

}  // namespace slackline::hw
