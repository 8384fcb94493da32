#include "hw/conclusion.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <thread>
#include <utility>

namespace slackline::hw {
namespace {

// Of the mesh. How an iteration ends is heard before the next begins; kMoving may come late, and
// does no harm then.
enum Topic : std::uint32_t { kFinished = 0x5210, kAllFinished, kMoving, kParting, kParted };

// Of one rank in one look, so that no rank holds this one up.
constexpr int kMostWords = 16;

}  // namespace

void Conclusion::begin() {
  finishes_.assign(mesh_.ranks(), {});
  heard_.assign(mesh_.ranks(), false);
  left_ = mesh_.ranks();
  next_ = 0;
  failure_ = {};
  over_ = false;
}

void Conclusion::tell(const Finish& finish) { tell({}, finish); }

void Conclusion::tell(const Failed& failed) { tell(failed, {}); }

void Conclusion::tell(const Failed& failed, const Finish& finish) {
  if (mesh_.rank() == 0) return hear(0, failed, finish);
  mesh_.send(0, kFinished, encode(RankFinish{failed, finish}));
}

void Conclusion::leave(const std::exception& error, Clock::duration patience) {
  using Fault = Failed::Fault;
  if (failed()) return;
  Failed broken = describe_failure(error);
  // The words of these two name a rank.
  if (broken.fault != Fault::kLost && broken.fault != Fault::kStalled) {
    broken.message = fmt::format("rank {}: {}", mesh_.rank(), broken.message);
  }
  tell(broken);
  const Clock::time_point until = Clock::now() + patience;
  while (!is_over() && !mesh_.any_lost() && Clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (failed()) part(until - Clock::now());
}

void Conclusion::part(Clock::duration patience) {
  using std::chrono::milliseconds;
  const Clock::time_point until = Clock::now() + patience;
  const auto left = [&] {
    return std::max(std::chrono::ceil<milliseconds>(until - Clock::now()), milliseconds(0));
  };
  if (mesh_.rank() != 0) {
    mesh_.send(0, kParting, {});
    mesh_.receive_within(left(), 0, kParted);
    return;
  }
  for (std::uint32_t rank = 1; rank < mesh_.ranks(); ++rank) {
    mesh_.receive_within(left(), rank, kParting);
  }
  for (std::uint32_t rank = 1; rank < mesh_.ranks(); ++rank) mesh_.send(rank, kParted, {});
}

bool Conclusion::listen(bool moved) {
  if (mesh_.rank() == 0) {
    for (std::uint32_t rank = 1; rank < mesh_.ranks(); ++rank) listen_to(rank);
  } else {
    is_over();
  }
  if (interval_ == Clock::duration::zero()) return false;
  const Clock::time_point now = Clock::now();
  // They are few, and nobody is in a hurry.
  const bool looks = !looked_at_ || now - *looked_at_ >= interval_ / 8;
  if (looks) looked_at_ = now;
  const bool heard = looks && hear_of_movement();
  moved_ = moved_ || moved || (heard && mesh_.rank() == 0);
  if (moved_ && (!told_at_ || now - *told_at_ >= interval_)) tell_of_movement(now);
  return heard;
}

bool Conclusion::hear_of_movement() {
  bool heard = false;
  const std::uint32_t end = mesh_.rank() == 0 ? mesh_.ranks() : 1;
  for (std::uint32_t from = mesh_.rank() == 0 ? 1 : 0; from < end; ++from) {
    for (int i = 0; i < kMostWords && mesh_.try_receive(from, kMoving); ++i) heard = true;
  }
  return heard;
}

// To rank 0, which tells all.
void Conclusion::tell_of_movement(Clock::time_point now) {
  told_at_ = now;
  moved_ = false;
  if (mesh_.rank() != 0) return mesh_.send(0, kMoving, {});
  for (std::uint32_t rank = 1; rank < mesh_.ranks(); ++rank) mesh_.send(rank, kMoving, {});
}

bool Conclusion::is_over() {
  if (over_) return true;
  if (mesh_.rank() == 0) {
    while (next_ < mesh_.ranks() && (heard_[next_] || listen_to(next_))) ++next_;
    return over_;
  }
  const bool left = has_left(0);
  const std::optional<Bytes> told = mesh_.try_receive(0, kAllFinished);
  if (!told && left) {
    failure_ = describe_failure(PeerLost(0, why_left(0)));
    over_ = true;
  }
  if (!told) return over_;
  AllFinished finished = read_from(0, "end of an iteration", *told, [&](ByteReader& reader) {
    return read_all_finished(reader, mesh_.ranks());
  });
  failure_ = std::move(finished.failed);
  finishes_ = std::move(finished.finishes);
  over_ = true;
  return true;
}

// To be asked before its words are looked for: those of one that has left have all come. Whoever is
// lost is the mesh's to tell.
bool Conclusion::has_left(std::uint32_t rank) const {
  return mesh_.is_gone(rank) && !mesh_.any_lost();
}

// Whether it was heard now.
bool Conclusion::listen_to(std::uint32_t rank) {
  if (over_) return false;
  const bool left = has_left(rank);
  const std::optional<Bytes> told = mesh_.try_receive(rank, kFinished);
  if (!told && left) {
    hear(rank, describe_failure(PeerLost(rank, why_left(rank))), {});
    return true;
  }
  if (!told) return false;
  const RankFinish finish = read_from(rank, "end of an iteration", *told, [&](ByteReader& reader) {
    return read_rank_finish(reader, mesh_.ranks());
  });
  // Who has finished may fail yet, as it serves the others.
  if (heard_[rank] && finish.failed.fault == Failed::Fault::kNone) return false;
  hear(rank, finish.failed, finish.finish);
  return true;
}

// At rank 0.
void Conclusion::hear(std::uint32_t rank, const Failed& failed, const Finish& finish) {
  if (over_) return;
  if (!heard_[rank]) --left_;
  heard_[rank] = true;
  finishes_[rank] = finish;
  failure_ = failed;
  if (this->failed() || left_ == 0) conclude();
}

void Conclusion::conclude() {
  over_ = true;
  const Bytes bytes = encode(AllFinished{failure_, finishes_});
  for (std::uint32_t rank = 1; rank < mesh_.ranks(); ++rank) {
    mesh_.send(rank, kAllFinished, bytes);
  }
}

}  // namespace slackline::hw
