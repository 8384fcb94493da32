#include "hw/group.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "hw/bytes.h"
#include "hw/group/create.h"
#include "hw/group/engine.h"
#include "hw/group/member.h"
#include "hw/transport_choice.h"

namespace slackline::hw {
namespace {

constexpr std::uint32_t kMostIds = 1u << 24;
static_assert(kMostSmallBytes == machine::kMostSmallBytes);

Bytes pack(const GroupAddress& address) {
  ByteWriter writer;
  writer.add(address.table);
  writer.add(address.small);
  writer.add_list(std::span<const std::byte>(address.address));
  return writer.take();
}

GroupAddress read_address(ByteReader& reader) {
  GroupAddress address;
  address.table = reader.get<RemoteMemory>();
  address.small = reader.get<RemoteMemory>();
  address.address = reader.list<std::byte>();
  return address;
}

}  // namespace

class Groups::Impl {
 public:
  Impl(Mesh& mesh, MakeTransport make_transport, const GroupsOptions& options)
      : mesh_(mesh),
        make_transport_(std::move(make_transport)),
        options_(options),
        next_name_(mesh.rank()),
        engine_(mesh, options) {}

  void create(std::uint32_t id, std::span<const std::uint32_t> members, GroupCallbacks callbacks,
              const GroupOptions& options) {
    refuse_within_callback("create_group");
    check_members(id, members);
    GroupSetup setup;
    setup.id = id;
    setup.ranks.assign(members.begin(), members.end());
    setup.self =
        static_cast<std::uint32_t>(std::ranges::find(members, mesh_.rank()) - members.begin());
    setup.atomic_delivery = options.atomic_delivery;
    setup.small = {options.small_bytes, options.small_slots};
    machine::check(setup.small);
    setup.callbacks = std::move(callbacks);
    setup.timeout = options_.timeout;
    setup.failure_timeout = options_.failure_timeout;
    GroupShape shape{options.pattern,   setup_size(setup), options.block_bytes,
                     options.in_flight, options.ready,     options.window};
    std::string words = shape.spec(0);
    if (options.atomic_delivery) words += " with atomic delivery";
    if (options.small_bytes != 0) {
      words += fmt::format(" with {} slots for messages up to {} bytes", options.small_slots,
                           options.small_bytes);
    }
    const std::lock_guard creating(creating_);
    setup.plan = plan_of(shape, words);
    GroupMeeting meeting(mesh_, {id, setup.ranks, words}, options_.timeout);
    std::shared_ptr<GroupMember> group;
    try {
      // Roots name their groups, each by numbers of its own.
      if (setup.self == 0 &&
          next_name_ > std::numeric_limits<std::uint32_t>::max() - mesh_.ranks()) {
        throw Unsupported("2^32 groups were created; expected less: make another session");
      }
      // Even if they do not agree: a member may have begun with that name, and tells that it
      // leaves.
      const std::uint32_t name = next_name_;
      if (setup.self == 0) next_name_ += mesh_.ranks();
      setup.name = meeting.agree(name);
      group = open_and_connect(meeting, std::move(setup));
    } catch (const std::exception& error) {
      meeting.refuse(error);
      throw;
    }
    const std::lock_guard lock(mutex_);
    groups_[id] = std::move(group);
  }

  void send(std::uint32_t id, std::span<std::byte> message) {
    const std::shared_ptr<GroupMember> group = find(id, "send");
    const GroupSetup& setup = group->setup();
    if (setup.self != 0) {
      throw InputError(fmt::format("send: rank {} is not the root of group {}; rank {} is",
                                   mesh_.rank(), id, setup.ranks[0]));
    }
    std::shared_ptr<const GroupMessage> how;
    if (!group->is_small(message.size())) how = setup.plan->message(message.size());
    if (const std::optional<std::uint32_t> failed = group->failure()) {
      throw PeerLost(*failed,
                     fmt::format("send: group {} has failed: rank {} was lost", id, *failed));
    }
    engine_.post([group, message, how = std::move(how)] { group->send(message, how); });
  }

  GroupClosing destroy(std::uint32_t id) {
    refuse_within_callback("destroy_group");
    const std::shared_ptr<GroupMember> group = find(id, "destroy_group");
    {
      const std::lock_guard lock(mutex_);
      if (groups_.erase(id) == 0) throw no_group(id, "destroy_group");
    }
    return engine_.close(group);
  }

 private:
  static std::uint32_t setup_size(const GroupSetup& setup) {
    return static_cast<std::uint32_t>(setup.ranks.size());
  }

  InputError no_group(std::uint32_t id, std::string_view what) const {
    return InputError(fmt::format("{}: rank {} has no group {}", what, mesh_.rank(), id));
  }

  void refuse_within_callback(std::string_view what) const {
    if (!engine_.is_here()) return;
    throw InputError(fmt::format("{}: called within a callback, which it would wait for", what));
  }

  void check_members(std::uint32_t id, std::span<const std::uint32_t> members) {
    const auto refuse = [&](const std::string& why) {
      throw InputError(fmt::format("create_group: group {}: {}", id, why));
    };
    if (id >= kMostIds) refuse(fmt::format("the id is not below {}", kMostIds));
    if (std::ranges::find(members, mesh_.rank()) == members.end()) {
      refuse(fmt::format("rank {} is not among its members", mesh_.rank()));
    }
    std::vector<std::uint32_t> sorted(members.begin(), members.end());
    std::ranges::sort(sorted);
    if (sorted.back() >= mesh_.ranks()) {
      refuse(fmt::format("no rank {}; expected ranks below {}", sorted.back(), mesh_.ranks()));
    }
    if (const auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end()) {
      refuse(fmt::format("rank {} is a member twice", *twice));
    }
    const std::lock_guard lock(mutex_);
    if (groups_.contains(id)) refuse("it exists; destroy_group() ends it");
  }

  // Groups of one shape share their schedules.
  std::shared_ptr<GroupPlan> plan_of(const GroupShape& shape, const std::string& words) {
    std::shared_ptr<GroupPlan>& plan = plans_[words];
    if (!plan) plan = std::make_shared<GroupPlan>(shape);
    return plan;
  }

  std::shared_ptr<GroupMember> open_and_connect(GroupMeeting& meeting, GroupSetup setup) {
    std::unique_ptr<Transport> transport = make_transport_();
    require_reach(transport->name(), mesh_, setup.ranks);
    auto group =
        std::make_shared<GroupMember>(std::move(transport), std::move(setup), engine_.tell());
    const GroupAddress own = group->open();
    engine_.call([&] { engine_.add(group); });
    try {
      std::vector<GroupAddress> addresses;
      const std::vector<Bytes> told = meeting.exchange(pack(own));
      for (std::uint32_t m = 0; m < told.size(); ++m) {
        addresses.push_back(
            read_from(group->setup().ranks[m], "address of a group's", told[m], read_address));
      }
      engine_.call([&] { group->connect(addresses, mesh_.ranks()); });
      // Nobody sends before all are connected.
      meeting.exchange({});
      engine_.call([&] { group->start(); });
    } catch (const std::exception& error) {
      const std::string why = error.what();
      engine_.call([&] { engine_.abandon(group, why); });
      throw;
    }
    return group;
  }

  std::shared_ptr<GroupMember> find(std::uint32_t id, std::string_view what) {
    const std::lock_guard lock(mutex_);
    const auto found = groups_.find(id);
    if (found == groups_.end()) throw no_group(id, what);
    return found->second;
  }

  Mesh& mesh_;
  const MakeTransport make_transport_;
  const GroupsOptions options_;
  std::mutex creating_;
  std::uint32_t next_name_;                                  // creating_
  std::map<std::string, std::shared_ptr<GroupPlan>> plans_;  // creating_
  std::mutex mutex_;
  std::map<std::uint32_t, std::shared_ptr<GroupMember>> groups_;
  GroupEngine engine_;
};

Groups::Groups(Mesh& mesh, MakeTransport make_transport, const GroupsOptions& options)
    : impl_(std::make_unique<Impl>(mesh, std::move(make_transport), options)) {}
Groups::~Groups() = default;

void Groups::create_group(std::uint32_t id, std::span<const std::uint32_t> members,
                          GroupCallbacks callbacks, const GroupOptions& options) {
  impl_->create(id, members, std::move(callbacks), options);
}
void Groups::send(std::uint32_t id, std::span<std::byte> message) { impl_->send(id, message); }
GroupClosing Groups::destroy_group(std::uint32_t id) { return impl_->destroy(id); }

}  // namespace slackline::hw
