# cmake -D OUT=presets.cc -P EmbedPresets.cmake FILE.toml… : writes the source of presets(), with the
# text of every file in it, so that the program needs no file at run time.
set(entries "")
set(files "")
foreach(i RANGE ${CMAKE_ARGC})
  if("${CMAKE_ARGV${i}}" MATCHES "\\.toml$")
    list(APPEND files "${CMAKE_ARGV${i}}")
  endif()
endforeach()
list(SORT files)
foreach(file IN LISTS files)
  file(READ ${file} text)
  get_filename_component(name ${file} NAME_WE)
  if(NOT "${text}" MATCHES "\nsummary = \"([^\"\\\n]+)\"\n")
    message(FATAL_ERROR "${file}: expected a line summary = \"…\"")
  endif()
  set(summary "${CMAKE_MATCH_1}")
  if("${text}" MATCHES "\\)toml\"")
    message(FATAL_ERROR "${file}: must not hold the end of a raw string")
  endif()
  string(APPEND entries "    {\"${name}\", \"${summary}\",\n     R\"toml(${text})toml\"},\n")
endforeach()
set(source "// Made from machine/presets/*.toml by cmake/EmbedPresets.cmake.
#include \"machine/platform.h\"

namespace slackline::machine {
namespace {

constexpr PresetEntry kPresets[] = {
${entries}};

}  // namespace

std::span<const PresetEntry> presets() { return kPresets; }

}  // namespace slackline::machine
")
file(WRITE ${OUT} "${source}")
