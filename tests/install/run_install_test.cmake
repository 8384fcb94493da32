# Installs the build to a new prefix, moves the prefix (an installed tree must not remember where it
# was), builds the project against it, and holds what it prints against the same program built here.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output
    ERROR_VARIABLE output OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nended with ${result}:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# With commas: semicolons would make arguments of their own.
file(REMOVE_RECURSE ${WORK_DIR})
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/installed)
file(RENAME ${WORK_DIR}/installed ${WORK_DIR}/moved)

# Nor may the environment lead back to this tree.
set(ENV{CXXFLAGS} "")
set(ENV{CMAKE_PREFIX_PATH} "")
run(${CMAKE_COMMAND} -S ${SOURCE_DIR} -B ${WORK_DIR}/build -G Ninja
  -D CMAKE_CXX_COMPILER=${CXX} -D CMAKE_BUILD_TYPE=${BUILD_TYPE}
  -D CMAKE_PREFIX_PATH=${WORK_DIR}/moved "-DCOMPONENTS=${COMPONENTS}")
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build)

run(${EXPECTED})
set(expected "${output}")
string(REPLACE "," ";link_" programs "link_${COMPONENTS}")
foreach(program IN ITEMS chain_digest ${programs})
  run(${WORK_DIR}/build/${program})
  if(NOT output STREQUAL expected OR NOT output MATCHES "^[0-9a-f]+$")
    message(FATAL_ERROR "${program} printed '${output}'; expected the digest '${expected}'")
  endif()
endforeach()
if(",${COMPONENTS}," MATCHES ",hw,")
  run(${WORK_DIR}/build/one_rank_calls)
endif()
message(STATUS "digest ${output} from the installed libraries too: ${COMPONENTS}")
file(REMOVE_RECURSE ${WORK_DIR})
