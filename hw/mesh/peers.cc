#include "hw/mesh/peers.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>

#include <algorithm>
#include <asio.hpp>

#include "base/now.h"
#include "base/units.h"

namespace slackline::hw {
namespace {

using asio::ip::tcp;
using std::error_code;

// Messages to one rank that it has not taken: more than anybody sends ahead, and some 50 MiB of
// what stands around them. Who asks without end and takes no answers comes to it.
constexpr std::size_t kMostWaiting = std::size_t{1} << 18;

double seconds(std::chrono::steady_clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

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

MeshPeers::MeshPeers(const MeshOptions& options, Joined joined, Inbox& inbox)
    : rank_(options.rank),
      timeout_(options.failure_timeout),
      most_unread_(options.most_unread_bytes),
      inbox_(inbox),
      tick_(io_),
      lost_(joined.connections.size(), false),
      clock_tick_(io_),
      meetings_(io_, std::move(joined.hello), std::move(joined.members), options.secret,
                options.failure_timeout, asks()) {
  for (std::uint32_t r = 0; r < joined.connections.size(); ++r) {
    peers_.push_back(r == rank_ ? nullptr : std::make_unique<Peer>(io_, r));
    if (joined.connections[r].socket) adopt(*peers_[r], std::move(joined.connections[r]));
  }
  if (peers_.size() == 1) return;
  meetings_.answer_at(std::move(joined.listener));
  const SignalsBlocked blocked;
  thread_ = std::thread([this] { hear(); });
}

MeshPeers::~MeshPeers() {
  if (!thread_.joinable()) return;
  asio::post(io_, [this] { leave(); });
  thread_.join();
}

void MeshPeers::send(std::uint32_t to, FrameKind kind, std::uint32_t topic,
                     std::shared_ptr<const Bytes> bytes) {
  asio::post(io_, [this, to, outgoing = Outgoing{kind, topic, std::move(bytes)}] {
    Peer& peer = *peers_[to];
    if (!peer.there) return;
    peer.messages.push_back(outgoing);
    if (peer.messages.size() > kMostWaiting) {
      lose({to, fmt::format("it takes nothing: {} messages wait for it", kMostWaiting), rank_});
      return;
    }
    if (!peer.connected) meetings_.call(to);
    write(peer);
  });
}

void MeshPeers::meet(std::uint32_t rank) {
  asio::post(io_, [this, rank] { meetings_.call(rank); });
}

void MeshPeers::ask_clock_often(bool anew) {
  asio::post(io_, [this, anew] {
    clock_.begin_round(anew);
    ask_clock();
  });
}

void MeshPeers::follow_clock(bool follow) {
  asio::post(io_, [this, follow] {
    const bool begins = follow && !follows_clock_;
    follows_clock_ = follow;
    if (begins) tick_clock();
    if (!follow) clock_tick_.cancel();
  });
}

void MeshPeers::adopt(Peer& peer, Connection connection) {
  sockaddr_storage address = {};
  socklen_t length = sizeof address;
  const int fd = connection.socket.release();
  peer.seal = std::move(connection.seal);
  getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length);
  peer.socket.assign(address.ss_family == AF_INET6 ? tcp::v6() : tcp::v4(), fd);
  error_code error;
  peer.socket.set_option(tcp::no_delay(true), error);
  peer.connected = true;
}

NeighbourMeetings::Asks MeshPeers::asks() {
  return {[this](std::uint32_t rank) { return peers_[rank]->there && !peers_[rank]->connected; },
          [this](std::uint32_t rank, Connection connection) {
            met(*peers_[rank], std::move(connection));
          },
          [this](std::uint32_t rank) {
            left(*peers_[rank]);
            if (leaving_) leave();
          },
          [this](std::uint32_t rank, std::string why) {
            lose({rank, std::move(why), rank_});
            if (leaving_) leave();
          }};
}

void MeshPeers::met(Peer& peer, Connection connection) {
  adopt(peer, std::move(connection));
  peer.heard = Clock::now();
  for (const Loss& loss : losses_) say(peer, FrameKind::kLost, encode(loss));
  read(peer);
  write(peer);
  if (leaving_) leave();
}

void MeshPeers::hear() {
  pthread_setname_np(pthread_self(), "mesh");
  // Where that is allowed: a heartbeat takes microseconds, and should not wait for ranks that poll.
  const sched_param lowest_of_real_time{sched_get_priority_min(SCHED_RR)};
  pthread_setschedparam(pthread_self(), SCHED_RR, &lowest_of_real_time);
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

void MeshPeers::begin() {
  awake_ = Clock::now();
  for (const auto& peer : peers_) {
    if (!peer || !peer->connected) continue;
    peer->heard = awake_ + timeout_ / 5;  // it may have to begin yet
    read(*peer);
  }
  tick();
}

void MeshPeers::tick() {
  tell_losses();
  notice_own_stop();
  const auto now = Clock::now();
  const auto patience = timeout_ * 7 / 10;
  for (const auto& peer : peers_) {
    if (!peer || !peer->there || !peer->connected) continue;
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

void MeshPeers::notice_own_stop() {
  const auto now = Clock::now();
  const auto gap = now - std::exchange(awake_, now);
  if (gap > timeout_) {
    lose({rank_, fmt::format("stopped for {:.2g} s", seconds(gap)), rank_});
  } else if (gap > timeout_ / 5) {
    // Peers may have been held up with this process, by what its host or its machine did.
    for (const auto& peer : peers_) {
      if (peer) peer->heard += gap;
    }
  }
}

void MeshPeers::read(Peer& peer) {
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

void MeshPeers::take(Peer& peer, std::span<const std::byte> bytes) {
  peer.heard = Clock::now();
  try {
    peer.records.feed(*peer.seal, bytes, [&](std::span<const std::byte> plain) {
      peer.reader.feed(plain, peer.frames);
    });
    for (Frame& frame : peer.frames) {
      if (peer.there) heed(peer, frame);
    }
  } catch (const WireError& error) {
    lose({peer.rank, fmt::format("it sent {}", error.what()), rank_});
  }
  peer.frames.clear();
  bound_unread();
  if (peer.there) read(peer);
}

void MeshPeers::bound_unread() {
  // Of a rank that is gone, an unfinished message stays as it is and counts no more.
  const auto under_way = [](const std::unique_ptr<Peer>& peer) {
    return peer && peer->there ? peer->reader.held() : 0;
  };
  std::uint64_t all = inbox_.unread();
  for (const auto& peer : peers_) all += under_way(peer);
  if (all <= most_unread_) return;
  const auto sent_by = [&](const std::unique_ptr<Peer>& peer) {
    return peer && peer->there ? inbox_.unread(peer->rank) + under_way(peer) : 0;
  };
  const auto most = std::max_element(
      peers_.begin(), peers_.end(),
      [&](const auto& one, const auto& other) { return sent_by(one) < sent_by(other); });
  if (sent_by(*most) == 0) return;
  lose({(*most)->rank,
        fmt::format("it sent {} that rank {} has not taken", sched::human_bytes(sent_by(*most)),
                    rank_),
        rank_});
}

void MeshPeers::heed(Peer& peer, Frame& frame) {
  if (is_long(frame.kind)) {
    inbox_.deliver({peer.rank, frame.kind, frame.topic}, std::move(frame.payload));
    return;
  }
  // All of them were said before the word to go.
  if (frame.kind < FrameKind::kHeartbeat) throw WireError("a word of the join");
  WireReader reader(frame.payload);
  if (frame.kind == FrameKind::kHeartbeat) {
    reader.end();
  } else if (frame.kind == FrameKind::kFarewell) {
    reader.end();
    left(peer);
  } else if (frame.kind == FrameKind::kLost) {
    peer.knows_of_loss = true;
    const Loss loss = decode_loss(frame.payload);
    if (loss.rank >= peers_.size() || loss.seen_by >= peers_.size())
      throw WireError("the loss of a rank that is none");
    lose(loss);
  } else if (frame.kind == FrameKind::kClockAsk) {
    const std::uint64_t asked = reader.u64();
    reader.end();
    if (peer.control.size() > kPartBytes) throw WireError("questions, and takes no answers");
    say(peer, FrameKind::kClockTell,
        WireWriter().u64(asked).u64(static_cast<std::uint64_t>(base::now_ns())).take());
  } else if (frame.kind == FrameKind::kClockTell) {
    if (peer.rank != 0) throw WireError("its clock's time, and is not rank 0");
    const std::uint64_t asked = reader.u64();
    const std::uint64_t there = reader.u64();
    reader.end();
    if (clock_.answered(asked, there, base::now_ns())) {
      inbox_.deliver({0, FrameKind::kClockTell, 0}, {});
    } else if (clock_.in_round()) {
      ask_clock();
    }
  }
}

void MeshPeers::ask_clock() {
  if (!peers_[0] || !peers_[0]->there) return;  // all are connected with it
  const std::int64_t now = base::now_ns();
  if (!clock_.ask(now)) return;
  say(*peers_[0], FrameKind::kClockAsk, WireWriter().u64(static_cast<std::uint64_t>(now)).take());
}

void MeshPeers::tick_clock() {
  constexpr std::chrono::milliseconds kInterval{100};
  if (!follows_clock_ || all_left()) return;
  ask_clock();
  clock_tick_.expires_after(kInterval);
  clock_tick_.async_wait([this](error_code error) {
    if (!error) tick_clock();
  });
}

void MeshPeers::say(Peer& peer, FrameKind kind, std::span<const std::byte> payload) {
  if (!peer.there || !peer.connected || peer.farewell_sent) return;
  const Bytes frame = encode_frame(kind, payload);
  peer.control.insert(peer.control.end(), frame.begin(), frame.end());
  write(peer);
}

void MeshPeers::write(Peer& peer) {
  if (peer.writing || !peer.socket.is_open()) return;
  if (peer.control.empty() && peer.messages.empty()) {
    said_all(peer);
    return;
  }
  // Held by the handler, as the peer may be gone before it comes.
  const auto sealed = std::make_shared<Bytes>();
  if (!peer.control.empty()) {
    peer.seal->append(peer.control, {}, *sealed);
    peer.control.clear();
  } else {
    Outgoing& outgoing = peer.messages.front();
    const std::size_t left = outgoing.bytes->size() - outgoing.sent;
    const auto header = encode(FrameHeader{outgoing.kind, outgoing.topic, left});
    const auto payload =
        std::span(*outgoing.bytes).subspan(outgoing.sent, std::min(left, kPartBytes));
    peer.seal->append(header, payload, *sealed);
    outgoing.sent += payload.size();
    if (outgoing.sent == outgoing.bytes->size()) peer.messages.pop_front();
  }
  peer.writing = true;
  asio::async_write(peer.socket, asio::buffer(*sealed),
                    [this, &peer, sealed](error_code error, std::size_t) {
                      peer.writing = false;
                      if (error) {
                        // Its last words may still be there to be read: reading finds out what it
                        // is.
                        peer.control.clear();
                        peer.messages.clear();
                      } else {
                        write(peer);
                      }
                      if (!untold_.empty() && !is_relaying()) tell_losses();
                    });
}

void MeshPeers::said_all(Peer& peer) {
  if (!peer.there) {
    close(peer);
  } else if (leaving_ && !peer.farewell_sent) {
    say(peer, FrameKind::kFarewell);
    peer.farewell_sent = true;
  }
}

void MeshPeers::ended(Peer& peer) {
  // Who knows of a loss may leave in any way. Who was lost itself has nothing to say of others.
  const bool may_leave = peer.farewell_sent || peer.knows_of_loss || lost_[rank_];
  if (!may_leave) {
    lose({peer.rank, "its connection ended", rank_});
    return;
  }
  left(peer);
}

void MeshPeers::lose(const Loss& loss) {
  if (lost_[loss.rank]) return;
  lost_[loss.rank] = true;
  losses_.push_back(loss);
  const Bytes payload = encode(loss);
  for (const auto& peer : peers_) {
    if (peer) say(*peer, FrameKind::kLost, payload);
  }
  if (loss.rank != rank_) gone(*peers_[loss.rank]);
  untold_.push_back(loss);
  if (!is_relaying()) tell_losses();
}

void MeshPeers::tell_losses() {
  for (const Loss& loss : untold_) inbox_.lose(loss);
  untold_.clear();
  for (const std::uint32_t rank : untold_left_) inbox_.leave(rank);
  untold_left_.clear();
}

bool MeshPeers::is_relaying() const {
  return std::any_of(peers_.begin(), peers_.end(), [](const auto& peer) {
    return peer && peer->there && !peer->control.empty();
  });
}

// The loss that it left for is told first: a rank that is lost itself must know that before it
// finds the others gone.
void MeshPeers::left(Peer& peer) {
  gone(peer);
  untold_left_.push_back(peer.rank);
  if (untold_.empty() || !is_relaying()) tell_losses();
}

void MeshPeers::gone(Peer& peer) {
  if (!peer.there) return;
  peer.there = false;
  peer.messages.clear();
  write(peer);
  if (all_left()) io_.stop();
}

void MeshPeers::close(Peer& peer) {
  error_code error;
  peer.socket.close(error);
}

void MeshPeers::leave() {
  leaving_ = true;
  for (const auto& peer : peers_) {
    if (peer && peer->there) write(*peer);
  }
  if (all_left()) io_.stop();
}

bool MeshPeers::all_left() const {
  return leaving_ && !meetings_.is_meeting() &&
         std::none_of(peers_.begin(), peers_.end(),
                      [](const auto& peer) { return peer && peer->there && peer->connected; });
}

}  // namespace slackline::hw
