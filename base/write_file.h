// Files written whole or not at all.
#pragma once

#include <string>
#include <string_view>

#include "base/sink.h"

namespace slackline::sched {

/// How a file is kept out of sight while it is written. kUnnamed: it has no name until it is whole,
/// so that not even SIGKILL leaves a trace; where the file system has no such files it is kNamed.
/// kNamed: as `.slackline-PID-N.tmp` beside its place; SIGINT, SIGTERM, SIGHUP and SIGQUIT are held
/// meanwhile and remove it, in a process of one thread.
enum class Aside { kUnnamed, kNamed };

/// Writes `bytes` aside and then puts them at `path` in one step, so that nobody ever sees half a
/// file. One that was there keeps its permissions, and its owner where this process may give files
/// away. A symbolic link is followed, and what it names is made if it is not there. What is there
/// and is no ordinary file (a terminal, a pipe) is written to directly. Throws InputError, naming
/// the path and the reason, and leaves nothing behind; a file that nobody may write to is refused,
/// to root as well.
void write_file(const std::string& path, std::string_view bytes, Aside aside = Aside::kUnnamed);

/// The same of a file that is made piece by piece. What `pieces` throws is passed on, and then
/// nothing is left behind either.
void write_file(const std::string& path, const Pieces& pieces, Aside aside = Aside::kUnnamed);

/// Says beforehand what write_file() would find wrong with a place: throws as it does.
void require_writable(const std::string& path);

}  // namespace slackline::sched
