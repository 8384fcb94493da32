// The completion thread: it serves all groups of the process.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <list>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "hw/descriptor.h"
#include "hw/group.h"
#include "hw/group/member.h"
#include "hw/mesh.h"

namespace slackline::hw {

class GroupEngine {
 public:
  /// The mesh must outlive this.
  GroupEngine(Mesh& mesh, const GroupsOptions& options);
  /// Leaves all groups.
  ~GroupEngine();
  GroupEngine(const GroupEngine&) = delete;
  GroupEngine& operator=(const GroupEngine&) = delete;

  /// Whether the caller is that thread: within a callback.
  bool is_here() const { return std::this_thread::get_id() == thread_.get_id(); }
  /// Has the thread do something, soon.
  void post(std::function<void()> work);
  /// …and waits until it is done; throws what it throws. Not from within the thread.
  void call(const std::function<void()>& work);
  /// Closes a group, and answers how it ended. Forgets it.
  GroupClosing close(const std::shared_ptr<GroupMember>& group);

  // By the thread only.

  GroupMember::Tell tell();
  /// Serves the group until it is closed, or it is `abandon`ed and has come to its end.
  void add(const std::shared_ptr<GroupMember>& group);
  /// Nobody waits for the group's end: it was never created.
  void abandon(const std::shared_ptr<GroupMember>& group, const std::string& why);

 private:
  using Clock = std::chrono::steady_clock;
  struct Served {
    std::shared_ptr<GroupMember> group;
    std::promise<GroupClosing>* waiting = nullptr;
    bool abandoned = false;
  };

  void run();
  bool round();
  bool run_posted();
  bool poll();
  void be_sure(Clock::time_point now);
  bool serve();
  Served* find(std::uint32_t name);
  void hear_all();
  void hear(std::uint32_t from, const GroupControl& control);
  void see_left(std::uint32_t rank);
  void see_gone(std::uint32_t rank);
  void see_losses(const std::vector<Loss>& lost);
  // Does something for a group; what a callback throws is its failure.
  template <class Do>
  void guarded(Served& served, Do&& something);
  void rest(bool moved);
  void sleep(std::chrono::nanoseconds time);
  void wake();

  Mesh& mesh_;
  const GroupsOptions options_;
  Descriptor woken_;   // an event for posted work
  Descriptor wakers_;  // an epoll of it, and of the mesh's losses

  std::mutex mutex_;
  std::vector<std::function<void()>> posted_;
  bool stopping_ = false;

  std::list<Served> served_;
  std::size_t losses_seen_ = 0;
  std::set<std::uint32_t> left_;  // ranks that have no groups any more
  // A process that was stopped may have been taken for lost: whom it has asked since.
  std::set<std::uint32_t> asked_;
  std::uint64_t question_ = 0;
  Clock::time_point asked_at_;
  Clock::time_point polled_ = Clock::now();
  Clock::time_point moved_ = Clock::now();
  Clock::time_point heard_ = Clock::now();
  std::vector<std::shared_ptr<void>> leftovers_;
  std::thread thread_;
};

}  // namespace slackline::hw
