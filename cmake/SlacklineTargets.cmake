# What every target of ours has in common.
add_library(slackline_options INTERFACE)
target_compile_features(slackline_options INTERFACE cxx_std_20)
target_compile_options(slackline_options INTERFACE -Wall -Wextra -Wshadow -Wconversion
  -Wno-sign-conversion -ffp-contract=off)
if(SLACKLINE_SANITIZE)
  target_compile_options(slackline_options INTERFACE -fsanitize=${SLACKLINE_SANITIZE}
    -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(slackline_options INTERFACE -fsanitize=${SLACKLINE_SANITIZE})
endif()

# slackline_precompile(TARGET): if the libraries are to be compiled with precompiled headers, the first
# target that calls this makes them, of the standard library and fmt, and all others use them.
function(slackline_precompile target)
  if(NOT SLACKLINE_PRECOMPILE STREQUAL "all")
    return()
  endif()
  if(NOT TARGET slackline_precompiled)
    set(source ${PROJECT_BINARY_DIR}/precompiled.cc)
    file(CONFIGURE OUTPUT ${source} CONTENT "// Nothing but the precompiled headers is wanted.\n")
    add_library(slackline_precompiled OBJECT ${source})
    set_target_properties(slackline_precompiled PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_link_libraries(slackline_precompiled PRIVATE slackline_options fmt::fmt Threads::Threads)
    target_precompile_headers(slackline_precompiled PRIVATE
      ${PROJECT_SOURCE_DIR}/cmake/precompiled.h)
  endif()
  target_precompile_headers(${target} REUSE_FROM slackline_precompiled)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)  # as they were compiled
endfunction()

# slackline_unite(TARGET FOLDER): if FOLDER is in SLACKLINE_UNITE, sources of the target that may be
# compiled as one are, so that what they include is read once (cmake/unity_groups.py).
function(slackline_unite target folder)
  if(NOT folder IN_LIST SLACKLINE_UNITE)
    return()
  endif()
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cc$")
  execute_process(
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/cmake/unity_groups.py
            ${PROJECT_SOURCE_DIR} ${sources}
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
    OUTPUT_VARIABLE groups COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]+" lines "${groups}")
  foreach(line IN LISTS lines)
    string(REGEX MATCH "^([0-9]+) (.*)$" line "${line}")
    set_source_files_properties(${CMAKE_MATCH_2} PROPERTIES UNITY_GROUP ${target}_${CMAKE_MATCH_1})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  # g++ warns of types without linkage unless they stand in the main file.
  target_compile_options(${target} PRIVATE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()

# slackline_library(FOLDER HEADER…): a static library of the folder's .cc files, its subfolders
# included, known to others as slackline::FOLDER; its public headers, as FOLDER has them.
function(slackline_library folder)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cc)
  add_library(slackline_${folder} STATIC ${sources})
  add_library(slackline::${folder} ALIAS slackline_${folder})
  set_target_properties(slackline_${folder} PROPERTIES EXPORT_NAME ${folder}
    POSITION_INDEPENDENT_CODE ON)
  target_compile_features(slackline_${folder} PUBLIC cxx_std_20)
  list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/${folder}/ OUTPUT_VARIABLE headers)
  target_sources(slackline_${folder} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}
    FILES ${headers})
  target_link_libraries(slackline_${folder} PRIVATE $<BUILD_INTERFACE:slackline_options>)
  slackline_precompile(slackline_${folder})
  slackline_unite(slackline_${folder} ${folder})
  set_property(GLOBAL APPEND PROPERTY SLACKLINE_LIBRARIES slackline_${folder})
endfunction()

# slackline_optional_transport(NAME FOLDER LIBRARY): hw/FOLDER/*.cc are part of hw if LIBRARY was
# found.
function(slackline_optional_transport name folder library)
  if(SLACKLINE_HAVE_${name})
    target_link_libraries(slackline_hw PRIVATE ${library})
    target_compile_definitions(slackline_hw PRIVATE SLACKLINE_HAVE_${name})
  else()
    file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/hw/${folder}/*.cc)
    set_source_files_properties(${sources} PROPERTIES HEADER_FILE_ONLY ON)
  endif()
endfunction()
