#include "hw/mesh.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/socket.h>

#include <algorithm>
#include <asio.hpp>
#include <deque>
#include <thread>

#include "hw/clock_probe.h"
#include "hw/mesh_inbox.h"
#include "hw/mesh_join.h"
#include "hw/mesh_wire.h"
#include "sched/error.h"

namespace slackline::hw {
namespace {

using asio::ip::tcp;
using Clock = std::chrono::steady_clock;
using std::error_code;

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch())
      .count();
}

double seconds(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

// A message on its way; several peers may share its bytes.
struct Outgoing {
  FrameKind kind;
  std::uint32_t topic;
  std::shared_ptr<const Bytes> bytes;
  std::size_t sent = 0;
};

// The connection to another rank. Its thread's alone.
struct Peer {
  Peer(asio::io_context& io, std::uint32_t its_rank)
      : rank(its_rank), socket(io), buffer(64 << 10) {}

  const std::uint32_t rank;
  tcp::socket socket;
  Bytes buffer;
  FrameReader reader;
  std::vector<Frame> frames;
  Clock::time_point heard = Clock::now();

  Bytes control;  // short frames that wait; before all messages
  std::deque<Outgoing> messages;
  bool writing = false;

  bool there = true;  // neither lost nor left
  bool knows_of_loss = false;
  bool farewell_sent = false;
};

// Linux sends to whichever of a process's threads: not to this one, for which it would be lost.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace

class Mesh::Impl {
 public:
  explicit Impl(const MeshOptions& options)
      : rank_(options.rank),
        ranks_(options.ranks),
        timeout_(options.failure_timeout),
        joined_(join_ranks(options)),
        inbox_(rank_, ranks_),
        tick_(io_),
        lost_(ranks_, false) {
    for (std::uint32_t r = 0; r < ranks_; ++r) {
      peers_.push_back(r == rank_ ? nullptr : std::make_unique<Peer>(io_, r));
      if (peers_[r]) adopt(*peers_[r]);
    }
    if (ranks_ == 1) return;
    const SignalsBlocked blocked;
    thread_ = std::thread([this] { hear(); });
  }

  ~Impl() {
    if (ranks_ == 1) return;
    asio::post(io_, [this] { leave(); });
    thread_.join();
  }

  void send(std::uint32_t to, FrameKind kind, std::uint32_t topic,
            std::shared_ptr<const Bytes> bytes) {
    if (to >= ranks_) throw InternalError(fmt::format("a message to rank {} of {}", to, ranks_));
    if (to == rank_) {
      inbox_.deliver({rank_, kind, topic}, *bytes);
      return;
    }
    asio::post(io_, [this, to, outgoing = Outgoing{kind, topic, std::move(bytes)}] {
      Peer& peer = *peers_[to];
      if (!peer.there) return;
      peer.messages.push_back(outgoing);
      write(peer);
    });
  }

  std::vector<Bytes> all_gather(std::span<const std::byte> bytes) {
    const auto mine = std::make_shared<const Bytes>(bytes.begin(), bytes.end());
    for (std::uint32_t r = 0; r < ranks_; ++r) send(r, FrameKind::kGather, 0, mine);
    std::vector<Bytes> all;
    for (std::uint32_t r = 0; r < ranks_; ++r) {
      all.push_back(inbox_.take({r, FrameKind::kGather, 0}));
    }
    return all;
  }

  ClockOffset measure_clock() {
    if (rank_ == 0) return {};
    asio::post(io_, [this] {
      probe_ = ClockProbe();
      ask_clock();
    });
    inbox_.take({0, FrameKind::kClockTell, 0});
    // Its thread has said that it is through with it.
    return probe_.result(joined_.members[0].host == joined_.members[rank_].host);
  }

  std::uint32_t rank() const { return rank_; }
  std::uint32_t ranks() const { return ranks_; }
  Inbox& inbox() { return inbox_; }
  const std::vector<Member>& members() const { return joined_.members; }

 private:
  void adopt(Peer& peer) {
    sockaddr_storage address = {};
    socklen_t length = sizeof address;
    const int fd = joined_.sockets[peer.rank].release();
    getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length);
    peer.socket.assign(address.ss_family == AF_INET6 ? tcp::v6() : tcp::v4(), fd);
    error_code error;
    peer.socket.set_option(tcp::no_delay(true), error);
  }

  // The thread.
  void hear() {
    pthread_setname_np(pthread_self(), "mesh");
    asio::post(io_, [this] { begin(); });
    for (bool again = true; again;) {
      try {
        io_.run();
        again = false;
      } catch (const std::bad_alloc&) {
        lose({rank_, "out of memory", rank_});
      }
    }
  }

  void begin() {
    awake_ = Clock::now();
    for (const auto& peer : peers_) {
      if (!peer) continue;
      peer->heard = awake_;
      read(*peer);
    }
    tick();
  }

  // Peers are told often that this rank is there, and looked at as often.
  void tick() {
    tell_losses();
    notice_own_stop();
    const auto now = Clock::now();
    const auto patience = timeout_ * 7 / 10;
    for (const auto& peer : peers_) {
      if (!peer || !peer->there) continue;
      if (!peer->writing) say(*peer, FrameKind::kHeartbeat);
      // It may be this thread that is late to read.
      error_code error;
      if (now - peer->heard > patience && peer->socket.available(error) == 0) {
        lose({peer->rank, fmt::format("silent for {:.3g} s", seconds(patience)), rank_});
      }
    }
    if (all_left()) return;
    tick_.expires_after(timeout_ / 10);
    tick_.async_wait([this](error_code error) {
      if (!error) tick();
    });
  }

  // A process that was stopped finds all others silent: it is the one that is lost.
  void notice_own_stop() {
    const auto now = Clock::now();
    const auto gap = now - std::exchange(awake_, now);
    if (gap > timeout_) lose({rank_, fmt::format("stopped for {:.2g} s", seconds(gap)), rank_});
  }

  void read(Peer& peer) {
    peer.socket.async_read_some(asio::buffer(peer.buffer),
                                [this, &peer](error_code error, std::size_t count) {
                                  notice_own_stop();
                                  if (!peer.there) return;
                                  if (error) {
                                    ended(peer);
                                  } else {
                                    take(peer, std::span(peer.buffer).first(count));
                                  }
                                });
  }

  void take(Peer& peer, std::span<const std::byte> bytes) {
    peer.heard = Clock::now();
    try {
      peer.reader.feed(bytes, peer.frames);
      for (Frame& frame : peer.frames) {
        if (peer.there) heed(peer, frame);
      }
    } catch (const WireError& error) {
      lose({peer.rank, fmt::format("it sent {}", error.what()), rank_});
    }
    peer.frames.clear();
    if (peer.there) read(peer);
  }

  void heed(Peer& peer, Frame& frame) {
    if (is_long(frame.kind)) {
      inbox_.deliver({peer.rank, frame.kind, frame.topic}, std::move(frame.payload));
      return;
    }
    ByteReader reader(frame.payload);
    if (frame.kind == FrameKind::kFarewell) {
      gone(peer);
      inbox_.leave(peer.rank);
    } else if (frame.kind == FrameKind::kLost) {
      peer.knows_of_loss = true;
      const Loss loss = decode_loss(frame.payload);
      if (loss.rank >= ranks_) throw WireError("the loss of a rank that is none");
      lose(loss);
    } else if (frame.kind == FrameKind::kClockAsk) {
      const std::uint64_t asked = reader.u64();
      say(peer, FrameKind::kClockTell,
          ByteWriter().u64(asked).u64(static_cast<std::uint64_t>(now_ns())).take());
    } else if (frame.kind == FrameKind::kClockTell) {
      const auto asked = static_cast<std::int64_t>(reader.u64());
      probe_.answered(asked, static_cast<std::int64_t>(reader.u64()), now_ns());
      if (probe_.done()) {
        inbox_.deliver({0, FrameKind::kClockTell, 0}, {});
      } else {
        ask_clock();
      }
    }
  }

  void ask_clock() {
    say(*peers_[0], FrameKind::kClockAsk,
        ByteWriter().u64(static_cast<std::uint64_t>(now_ns())).take());
  }

  void say(Peer& peer, FrameKind kind, std::span<const std::byte> payload = {}) {
    if (!peer.there || peer.farewell_sent) return;
    const Bytes frame = encode_frame(kind, payload);
    peer.control.insert(peer.control.end(), frame.begin(), frame.end());
    write(peer);
  }

  // The next of what waits to be said.
  void write(Peer& peer) {
    if (peer.writing || !peer.socket.is_open()) return;
    if (peer.control.empty() && peer.messages.empty()) {
      said_all(peer);
      return;
    }
    // Held by the handler, as the peer's queues may be gone before it comes.
    struct Part {
      Bytes control;
      std::shared_ptr<const Bytes> message;
    };
    const auto part = std::make_shared<Part>();
    std::span<const std::byte> payload;
    part->control.swap(peer.control);
    if (part->control.empty()) {
      Outgoing& outgoing = peer.messages.front();
      const std::size_t left = outgoing.bytes->size() - outgoing.sent;
      const auto header = encode(FrameHeader{outgoing.kind, outgoing.topic, left});
      part->control.assign(header.begin(), header.end());
      part->message = outgoing.bytes;
      payload = std::span(*outgoing.bytes).subspan(outgoing.sent, std::min(left, kPartBytes));
      outgoing.sent += payload.size();
      if (outgoing.sent == outgoing.bytes->size()) peer.messages.pop_front();
    }
    peer.writing = true;
    const std::array<asio::const_buffer, 2> buffers = {
        asio::buffer(part->control), asio::buffer(payload.data(), payload.size())};
    asio::async_write(peer.socket, buffers, [this, &peer, part](error_code error, std::size_t) {
      peer.writing = false;
      if (error) {
        // Its last words may still be there to be read: reading finds out what it is.
        peer.control.clear();
        peer.messages.clear();
      } else {
        write(peer);
      }
      if (!untold_.empty() && !is_relaying()) tell_losses();
    });
  }

  void said_all(Peer& peer) {
    if (!peer.there) {
      close(peer);
    } else if (leaving_ && !peer.farewell_sent) {
      say(peer, FrameKind::kFarewell);
      peer.farewell_sent = true;
    }
  }

  void ended(Peer& peer) {
    // Who knows of a loss may leave in any way. Who was lost itself has nothing to say of others.
    const bool may_leave = peer.farewell_sent || peer.knows_of_loss || lost_[rank_];
    if (!may_leave) {
      lose({peer.rank, "its connection ended", rank_});
      return;
    }
    gone(peer);
    inbox_.leave(peer.rank);
  }

  // Everybody is told, the lost rank too: it may have been stopped only.
  void lose(const Loss& loss) {
    if (lost_[loss.rank]) return;
    lost_[loss.rank] = true;
    const Bytes payload = encode(loss);
    for (const auto& peer : peers_) {
      if (peer) say(*peer, FrameKind::kLost, payload);
    }
    if (loss.rank != rank_) gone(*peers_[loss.rank]);
    untold_.push_back(loss);
    if (!is_relaying()) tell_losses();
  }

  // The process may end in any way once it knows of a loss. So its peers know first, that this was
  // why; at the latest with the next tick, as one of them may be slow to listen.
  void tell_losses() {
    for (const Loss& loss : untold_) inbox_.lose(loss);
    untold_.clear();
  }

  bool is_relaying() const {
    return std::any_of(peers_.begin(), peers_.end(), [](const auto& peer) {
      return peer && peer->there && !peer->control.empty();
    });
  }

  // Nothing comes from it any more, nor goes to it but what was begun.
  void gone(Peer& peer) {
    if (!peer.there) return;
    peer.there = false;
    peer.messages.clear();
    write(peer);
    if (all_left()) io_.stop();
  }

  void close(Peer& peer) {
    error_code error;
    peer.socket.close(error);
  }

  void leave() {
    leaving_ = true;
    for (const auto& peer : peers_) {
      if (peer && peer->there) write(*peer);
    }
    if (all_left()) io_.stop();
  }

  bool all_left() const {
    return leaving_ && std::none_of(peers_.begin(), peers_.end(),
                                    [](const auto& peer) { return peer && peer->there; });
  }

  const std::uint32_t rank_;
  const std::uint32_t ranks_;
  const Clock::duration timeout_;
  Joined joined_;
  Inbox inbox_;

  // The thread's from here on.
  asio::io_context io_;
  asio::steady_timer tick_;
  std::vector<std::unique_ptr<Peer>> peers_;  // by rank; none for this one
  std::vector<bool> lost_;                    // by rank
  std::vector<Loss> untold_;                  // to the inbox
  Clock::time_point awake_;
  bool leaving_ = false;
  ClockProbe probe_;
  std::thread thread_;
};

Mesh::Mesh(const MeshOptions& options) : impl_(std::make_unique<Impl>(options)) {}
Mesh::~Mesh() = default;

std::uint32_t Mesh::rank() const { return impl_->rank(); }
std::uint32_t Mesh::ranks() const { return impl_->ranks(); }

void Mesh::send(std::uint32_t to, std::uint32_t topic, std::span<const std::byte> bytes) {
  impl_->send(to, FrameKind::kMessage, topic,
              std::make_shared<const Bytes>(bytes.begin(), bytes.end()));
}

Bytes Mesh::receive(std::uint32_t from, std::uint32_t topic) {
  return impl_->inbox().take({from, FrameKind::kMessage, topic});
}

std::optional<Bytes> Mesh::try_receive(std::uint32_t from, std::uint32_t topic) {
  return impl_->inbox().try_take({from, FrameKind::kMessage, topic});
}

std::optional<Bytes> Mesh::receive_within(std::chrono::milliseconds time, std::uint32_t from,
                                          std::uint32_t topic) {
  return impl_->inbox().take_within(time, {from, FrameKind::kMessage, topic});
}

std::vector<Bytes> Mesh::all_gather(std::span<const std::byte> bytes) {
  return impl_->all_gather(bytes);
}

void Mesh::barrier() { impl_->all_gather({}); }

bool Mesh::any_lost() const { return impl_->inbox().any_lost(); }
std::vector<Loss> Mesh::lost() const { return impl_->inbox().lost(); }
void Mesh::throw_if_lost() const { impl_->inbox().throw_if_lost(); }
int Mesh::lost_descriptor() const { return impl_->inbox().lost_descriptor(); }

ClockOffset Mesh::measure_clock() { return impl_->measure_clock(); }

std::vector<std::uint32_t> Mesh::ranks_on_this_host() const {
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t r = 0; r < impl_->ranks(); ++r) {
    if (impl_->members()[r].host == impl_->members()[impl_->rank()].host) ranks.push_back(r);
  }
  return ranks;
}

pid_t Mesh::process(std::uint32_t rank) const {
  return static_cast<pid_t>(impl_->members()[rank].pid);
}

}  // namespace slackline::hw
