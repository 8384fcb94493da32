#include "hw/group/engine.h"

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "hw/shm_cleanup.h"

namespace slackline::hw {
namespace {

// How often a busy thread looks for words of peers.
constexpr std::chrono::microseconds kHearEvery{100};
// How long an idle one sleeps: where something is awaited of which nobody tells it, and otherwise.
constexpr std::chrono::microseconds kShortRest{200};
constexpr std::chrono::milliseconds kLongRest{5};

}  // namespace

GroupEngine::GroupEngine(Mesh& mesh, const GroupsOptions& options)
    : mesh_(mesh),
      options_(options),
      woken_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      wakers_(epoll_create1(EPOLL_CLOEXEC)) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLET;  // a loss is told once
  const bool added = woken_ && wakers_ &&
                     epoll_ctl(wakers_.get(), EPOLL_CTL_ADD, woken_.get(), &event) == 0 &&
                     epoll_ctl(wakers_.get(), EPOLL_CTL_ADD, mesh.lost_descriptor(), &event) == 0;
  if (!added) throw EnvironmentError("groups: no more file descriptors");
  thread_ = std::thread([this] { run(); });
}

GroupEngine::~GroupEngine() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake();
  thread_.join();
  remove_shm_segments_of_lost(mesh_, std::chrono::milliseconds(0));
}

void GroupEngine::wake() {
  const std::uint64_t one = 1;
  // Fails only when it is readable already.
  static_cast<void>(!write(woken_.get(), &one, sizeof one));
}

void GroupEngine::post(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(work));
  }
  if (!is_here()) wake();
}

void GroupEngine::call(const std::function<void()>& work) {
  std::promise<void> done;
  post([&] {
    try {
      work();
      done.set_value();
    } catch (...) {
      done.set_exception(std::current_exception());
    }
  });
  done.get_future().get();
}

GroupClosing GroupEngine::close(const std::shared_ptr<GroupMember>& group) {
  std::promise<GroupClosing> closed;
  post([&] {
    std::ranges::find(served_, group, &Served::group)->waiting = &closed;
    group->close();
  });
  return closed.get_future().get();
}

GroupMember::Tell GroupEngine::tell() {
  return [this](std::uint32_t rank, const GroupControl& control) {
    mesh_.send(rank, kGroupControl, encode(control));
  };
}

void GroupEngine::add(const std::shared_ptr<GroupMember>& group) {
  // Who has left before, and is here again, has not left this group.
  hear_all();
  for (const std::uint32_t rank : group->setup().ranks) left_.erase(rank);
  served_.push_back({group, nullptr, false});
  // Whoever was lost before is so for this group, too.
  losses_seen_ = 0;
}

void GroupEngine::abandon(const std::shared_ptr<GroupMember>& group, const std::string& why) {
  std::ranges::find(served_, group, &Served::group)->abandoned = true;
  group->silence();
  group->leave(why);
}

void GroupEngine::run() {
  while (true) {
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) break;
    }
    rest(round());
  }
  for (Served& served : served_) {
    served.group->silence();
    served.group->leave("its process left");
  }
  for (std::uint32_t rank = 0; rank < mesh_.ranks(); ++rank) {
    if (rank != mesh_.rank()) tell()(rank, {{GroupWord::kLeft, 0, {}}, 0});
  }
}

bool GroupEngine::round() {
  bool moved = run_posted();
  moved = poll() || moved;
  const auto now = Clock::now();
  be_sure(now);
  if (!moved || now - heard_ > kHearEvery) {
    heard_ = now;
    hear_all();
  }
  if (!asked_.empty()) return moved;
  return serve() || moved;
}

bool GroupEngine::run_posted() {
  std::vector<std::function<void()>> posted;
  {
    const std::lock_guard lock(mutex_);
    posted.swap(posted_);
  }
  for (const std::function<void()>& work : posted) work();
  return !posted.empty();
}

bool GroupEngine::poll() {
  bool moved = false;
  for (Served& served : served_) {
    guarded(served, [&] { moved = served.group->poll() || moved; });
  }
  return moved;
}

// Others may have taken this process for lost while it was stopped, and have used memory again that
// what it now finds was read from. Before it believes that, it asks.
void GroupEngine::be_sure(Clock::time_point now) {
  const auto gap = now - std::exchange(polled_, now);
  if (gap > options_.failure_timeout / 4) {
    ++question_;
    asked_.clear();
    asked_at_ = now;
    GroupControl ping;
    ping.word = GroupWord::kPing;
    ping.number = question_;
    for (const Served& served : served_) {
      if (served.group->closing() || served.group->failure()) continue;
      for (const std::uint32_t rank : served.group->setup().ranks) {
        if (rank == mesh_.rank() || left_.contains(rank)) continue;
        if (asked_.insert(rank).second) tell()(rank, ping);
      }
    }
    losses_seen_ = 0;  // whoever is lost will not answer
  }
  // Who lives and never answers is no help; its groups end by their own timeout.
  if (now - asked_at_ > options_.timeout) asked_.clear();
}

bool GroupEngine::serve() {
  bool moved = false;
  for (auto served = served_.begin(); served != served_.end();) {
    guarded(*served, [&] { moved = served->group->progress() || moved; });
    const std::optional<GroupClosing>& closing = served->group->closing();
    if (!closing || (served->waiting == nullptr && !served->abandoned)) {
      ++served;
      continue;
    }
    if (auto leftover = served->group->leftover()) leftovers_.push_back(std::move(leftover));
    if (served->waiting != nullptr) served->waiting->set_value(*closing);
    served = served_.erase(served);
    moved = true;
  }
  return moved;
}

template <class Do>
void GroupEngine::guarded(Served& served, Do&& something) {
  try {
    something();
  } catch (const std::exception& error) {
    try {
      served.group->leave(error.what());
    } catch (const std::exception&) {
      // failure() throws too: it has left all the same.
    }
  }
}

// What came before a loss is heard before it counts.
void GroupEngine::hear_all() {
  std::vector<std::uint32_t> gone;
  for (std::uint32_t rank = 0; rank < mesh_.ranks(); ++rank) {
    if (rank != mesh_.rank() && mesh_.is_gone(rank)) gone.push_back(rank);
  }
  std::vector<Loss> lost;
  if (mesh_.any_lost()) lost = mesh_.lost();
  for (std::uint32_t rank = 0; rank < mesh_.ranks(); ++rank) {
    if (rank == mesh_.rank()) continue;
    while (const std::optional<Bytes> bytes = mesh_.try_receive(rank, kGroupControl)) {
      if (const auto control = decode_group_control(*bytes)) hear(rank, *control);
    }
  }
  see_losses(lost);
  // Of those that are lost it is known by now how.
  for (const std::uint32_t rank : gone) see_gone(rank);
}

GroupEngine::Served* GroupEngine::find(std::uint32_t name) {
  const auto found = std::ranges::find_if(
      served_, [&](const Served& served) { return served.group->setup().name == name; });
  return found == served_.end() ? nullptr : &*found;
}

void GroupEngine::hear(std::uint32_t from, const GroupControl& control) {
  GroupControl answer;
  answer.number = control.number;
  answer.group = control.group;
  if (control.word == GroupWord::kPing) {
    answer.word = GroupWord::kPong;
    return tell()(from, answer);
  }
  if (control.word == GroupWord::kPong) {
    if (control.number == question_) asked_.erase(from);
    return;
  }
  if (control.word == GroupWord::kLeft) return see_left(from);
  Served* const served = find(control.group);
  if (served != nullptr && !served->group->closing()) {
    const std::optional<std::uint32_t> member = served->group->member(from);
    if (member) guarded(*served, [&] { served->group->hear(*member, control); });
    return;
  }
  const std::optional<GroupSaying> gone = machine::answer_without_group(control.word);
  if (gone) tell()(from, {*gone, control.group});
}

// It answers nothing from here on, whatever a group still has to settle.
void GroupEngine::see_left(std::uint32_t rank) {
  left_.insert(rank);
  asked_.erase(rank);
  for (Served& served : served_) {
    const std::optional<std::uint32_t> member = served.group->member(rank);
    if (!member || served.group->closing()) continue;
    guarded(served, [&] { served.group->see_left(*member); });
  }
}

// It says nothing from here on. Who has not said that it has no groups was killed, even if the mesh
// does not call that a loss.
void GroupEngine::see_gone(std::uint32_t rank) {
  asked_.erase(rank);
  if (left_.contains(rank)) return;
  for (Served& served : served_) {
    const std::optional<std::uint32_t> member = served.group->member(rank);
    if (!member || served.group->closing()) continue;
    guarded(served,
            [&] { served.group->lose(*member, fmt::format("rank {} has left", rank), false); });
  }
}

void GroupEngine::see_losses(const std::vector<Loss>& lost) {
  if (lost.size() <= losses_seen_) return;
  losses_seen_ = lost.size();
  for (const Loss& loss : lost) {
    if (loss.rank == mesh_.rank()) asked_.clear();
    asked_.erase(loss.rank);
    for (Served& served : served_) {
      const std::optional<std::uint32_t> member = served.group->member(loss.rank);
      if (!member || served.group->closing()) continue;
      guarded(served, [&] {
        // It may be this process that others have given up, or soon will.
        if (loss.rank == mesh_.rank()) {
          served.group->cut_off(fmt::format("rank {}: {}", loss.rank, loss.how));
        } else {
          served.group->lose(*member, fmt::format("rank {} was lost: {}", loss.rank, loss.how),
                             false);
        }
      });
    }
  }
}

void GroupEngine::rest(bool moved) {
  const auto now = Clock::now();
  if (moved) moved_ = now;
  if (now - moved_ < options_.poll_for) {
    sched_yield();
    return;
  }
  std::chrono::nanoseconds time = kLongRest;
  for (const Served& served : served_) {
    if (served.group->watches()) time = kShortRest;
  }
  sleep(asked_.empty() ? time : kShortRest);
  epoll_event events[2];
  if (epoll_wait(wakers_.get(), events, 2, 0) > 0) {
    std::uint64_t count = 0;
    static_cast<void>(!read(woken_.get(), &count, sizeof count));
  }
}

// One transport can wake the thread; with several it naps, since none knows of the others.
void GroupEngine::sleep(std::chrono::nanoseconds time) {
  Transport* only = nullptr;
  std::size_t open = 0;
  for (Served& served : served_) {
    if (served.group->transport() == nullptr) continue;
    only = served.group->transport();
    ++open;
  }
  if (open == 1) {
    try {
      return only->wait(time, wakers_.get());
    } catch (const Error&) {
      // It will say so when it is polled.
    }
  }
  if (open != 0) time = std::min<std::chrono::nanoseconds>(time, kShortRest);
  const timespec nap{0, static_cast<long>(time.count())};
  pollfd entry{wakers_.get(), POLLIN, 0};
  ppoll(&entry, 1, &nap, nullptr);
}

}  // namespace slackline::hw
