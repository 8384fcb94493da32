#include "hw/mesh.h"

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <system_error>

#include "base/error.h"
#include "base/memory_limit.h"
#include "base/now.h"
#include "hw/mesh/gathering.h"
#include "hw/mesh/host_identity.h"
#include "hw/mesh/inbox.h"
#include "hw/mesh/join.h"
#include "hw/mesh/peers.h"
#include "hw/mesh/wire.h"

namespace slackline::hw {

namespace {

// What is not said is half of the memory that is free.
MeshOptions with_bound(MeshOptions options) {
  constexpr std::uint64_t kUnknown = std::uint64_t{2} << 30;
  if (options.most_unread_bytes == 0) {
    options.most_unread_bytes = sched::free_memory().value_or(kUnknown) / 2;
  }
  return options;
}

}  // namespace

class Mesh::Impl {
 public:
  explicit Impl(const MeshOptions& options) : Impl(options, join_ranks(options)) {}

  void send(std::uint32_t to, FrameKind kind, std::uint32_t topic,
            const std::shared_ptr<const Bytes>& bytes) {
    if (to >= ranks()) throw InternalError(fmt::format("a message to rank {} of {}", to, ranks()));
    if (to == rank_) {
      inbox_.deliver({rank_, kind, topic}, *bytes);
    } else {
      peers_.send(to, kind, topic, bytes);
    }
  }

  Bytes receive(std::uint32_t from, FrameKind kind, std::uint32_t topic) {
    meet(from);
    return inbox_.take({from, kind, topic});
  }

  std::optional<Bytes> receive_within(std::chrono::milliseconds time, std::uint32_t from,
                                      std::uint32_t topic) {
    meet(from);
    return inbox_.take_within(time, {from, FrameKind::kMessage, topic});
  }

  std::vector<Bytes> all_gather(std::span<const std::byte> bytes) {
    if (!all_neighbours_) return gather_by_neighbours(bytes);
    const auto mine = std::make_shared<const Bytes>(bytes.begin(), bytes.end());
    for (std::uint32_t r = 0; r < ranks(); ++r) send(r, FrameKind::kGather, 0, mine);
    std::vector<Bytes> all;
    for (std::uint32_t r = 0; r < ranks(); ++r) {
      all.push_back(inbox_.take({r, FrameKind::kGather, 0}));
    }
    return all;
  }

  bool follow_clock() {
    if (rank_ == 0) return false;
    peers_.follow_clock(false);
    ask_clock(true);
    if (peers_.clock().track(is_host_of_root()).is_one_clock()) return false;
    peers_.follow_clock(true);
    return true;
  }

  void add_clock_sample(const ClockSample& sample) { peers_.clock().add(sample); }

  ClockOffset clock() const {
    if (rank_ == 0) return {};
    return peers_.clock().latest(is_host_of_root(), base::now_ns());
  }

  ClockTrack followed_clock() {
    if (rank_ == 0) return {};
    leave_clock();
    ask_clock(false);
    return peers_.clock().track(is_host_of_root());
  }

  void leave_clock() {
    if (rank_ != 0) peers_.follow_clock(false);
  }

  std::uint32_t rank() const { return rank_; }
  std::uint32_t ranks() const { return static_cast<std::uint32_t>(members_.size()); }
  Inbox& inbox() { return inbox_; }
  const std::vector<Member>& members() const { return members_; }

 private:
  bool is_host_of_root() const { return hw::is_same_host(members_[0].host, members_[rank_].host); }

  void ask_clock(bool anew) {
    peers_.ask_clock_often(anew);
    inbox_.take({0, FrameKind::kClockTell, 0});
  }

  std::vector<Bytes> gather_by_neighbours(std::span<const std::byte> bytes) {
    Gathering gathering(rank_, ranks(), bytes);
    while (!gathering.done()) {
      const std::uint32_t from = gathering.from();
      send(gathering.to(), FrameKind::kGather, 0, std::make_shared<const Bytes>(gathering.told()));
      try {
        gathering.take(inbox_.take({from, FrameKind::kGather, 0}));
      } catch (const WireError& error) {
        throw PeerLost(from, fmt::format("rank {} sent {}", from, error.what()));
      }
    }
    return std::move(gathering).all();
  }

  // Of a rank that is not connected nobody would know when it leaves.
  void meet(std::uint32_t rank) {
    if (!all_neighbours_ && rank < ranks() && rank != rank_) peers_.meet(rank);
  }

  Impl(const MeshOptions& options, Joined joined)
      : rank_(options.rank),
        all_neighbours_(options.ranks <= options.full_up_to),
        members_(joined.members),
        inbox_(rank_, options.ranks),
        peers_(with_bound(options), std::move(joined), inbox_) {}

  const std::uint32_t rank_;
  const bool all_neighbours_;
  const std::vector<Member> members_;
  Inbox inbox_;
  MeshPeers peers_;
};

Mesh::Mesh(const MeshOptions& options) try : impl_(std::make_unique<Impl>(options)) {
} catch (const std::system_error& error) {
  // Of what Asio opens for itself; its codes are of a category of its own.
  const bool known = error.code().value() == EMFILE || error.code().value() == ENFILE;
  if (!known) throw;
  throw EnvironmentError(fmt::format(
      "rank {} has no descriptor left: too many open files; see `ulimit -n`", options.rank));
}
Mesh::~Mesh() = default;

std::uint32_t Mesh::rank() const { return impl_->rank(); }
std::uint32_t Mesh::ranks() const { return impl_->ranks(); }

void Mesh::send(std::uint32_t to, std::uint32_t topic, std::span<const std::byte> bytes) {
  impl_->send(to, FrameKind::kMessage, topic,
              std::make_shared<const Bytes>(bytes.begin(), bytes.end()));
}

Bytes Mesh::receive(std::uint32_t from, std::uint32_t topic) {
  return impl_->receive(from, FrameKind::kMessage, topic);
}

std::optional<Bytes> Mesh::try_receive(std::uint32_t from, std::uint32_t topic) {
  return impl_->inbox().try_take({from, FrameKind::kMessage, topic});
}

std::optional<Bytes> Mesh::receive_within(std::chrono::milliseconds time, std::uint32_t from,
                                          std::uint32_t topic) {
  return impl_->receive_within(time, from, topic);
}

std::vector<Bytes> Mesh::all_gather(std::span<const std::byte> bytes) {
  return impl_->all_gather(bytes);
}

void Mesh::barrier() { impl_->all_gather({}); }

bool Mesh::any_lost() const { return impl_->inbox().any_lost(); }
std::vector<Loss> Mesh::lost() const { return impl_->inbox().lost(); }
bool Mesh::is_gone(std::uint32_t rank) const { return impl_->inbox().is_gone(rank); }
void Mesh::throw_if_lost() const { impl_->inbox().throw_if_lost(); }
int Mesh::lost_descriptor() const { return impl_->inbox().lost_descriptor(); }

bool Mesh::follow_clock() { return impl_->follow_clock(); }
void Mesh::add_clock_sample(const ClockSample& sample) { impl_->add_clock_sample(sample); }
ClockOffset Mesh::clock() const { return impl_->clock(); }
ClockTrack Mesh::followed_clock() { return impl_->followed_clock(); }
void Mesh::leave_clock() { impl_->leave_clock(); }

std::vector<std::uint32_t> Mesh::ranks_on_this_host() const {
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t r = 0; r < impl_->ranks(); ++r) {
    if (is_same_host(r, impl_->rank())) ranks.push_back(r);
  }
  return ranks;
}

bool Mesh::is_same_host(std::uint32_t one, std::uint32_t other) const {
  return hw::is_same_host(impl_->members()[one].host, impl_->members()[other].host);
}

std::string Mesh::host(std::uint32_t rank) const {
  return std::string(host_name(impl_->members()[rank].host));
}

pid_t Mesh::process(std::uint32_t rank) const {
  return static_cast<pid_t>(impl_->members()[rank].pid);
}

}  // namespace slackline::hw
