// Calls of the installed library, of one rank to itself: names of functions rest on how this
// program is linked.
#include <cstdio>

#include "hw/call.h"
#include "hw/transports.h"

int main() {
  using namespace slackline;
  try {
    hw::Mesh mesh({});
    if (hw::transports().empty()) return 0;  // it was built without any
    hw::Calls calls(mesh, hw::make_transport(hw::transports().front().name, {}));
    int ran = 0;
    calls.set_local(ran);
    hw::Synchronizer done(calls);
    for (int i = 1; i <= 3; ++i) {
      calls.call(
          0, [i](hw::CallContext& here) { here.local<int>() += i; }, &done);
    }
    done.wait();
    calls.finish();
    return ran == 6 ? 0 : 1;
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.exit_code();
  }
}
