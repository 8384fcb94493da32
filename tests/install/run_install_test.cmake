# Installs the build to a new prefix, moves the prefix (an installed tree must not remember where it
# was), builds the project against each library of it alone, by find_package and by pkg-config, and
# holds what it prints against the same program built here.
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output
    ERROR_VARIABLE output OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nended with ${result}:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

# What was built against the component: one_size against base, chain_digest against all others.
function(expect_answer component program)
  run(${program})
  if(component STREQUAL "base")
    if(NOT output STREQUAL "2MiB")
      message(FATAL_ERROR "${program} printed '${output}'; expected '2MiB'")
    endif()
  elseif(NOT output STREQUAL expected OR NOT output MATCHES "^[0-9a-f]+$")
    message(FATAL_ERROR "${program} printed '${output}'; expected the digest '${expected}'")
  endif()
endfunction()

function(program_of component)
  set(program chain_digest)
  if(component STREQUAL "base")
    set(program one_size)
  endif()
  set(program ${program} PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/installed)
file(RENAME ${WORK_DIR}/installed ${WORK_DIR}/moved)
run(${EXPECTED})
set(expected "${output}")

# Nor may the environment lead back to this tree.
set(ENV{CXXFLAGS} "")
set(ENV{CMAKE_PREFIX_PATH} "")
string(REPLACE "," ";" components "${COMPONENTS}")  # semicolons would make arguments of their own
foreach(component IN LISTS components)
  set(build ${WORK_DIR}/${component})
  set(headers "")
  if(component STREQUAL "hw")
    set(headers ${WORK_DIR}/moved/include/slackline)
  endif()
  run(${CMAKE_COMMAND} -S ${SOURCE_DIR} -B ${build} -G Ninja
    -D CMAKE_CXX_COMPILER=${CXX} -D CMAKE_BUILD_TYPE=${BUILD_TYPE}
    -D CMAKE_PREFIX_PATH=${WORK_DIR}/moved -D COMPONENT=${component} -D HEADERS=${headers} -D EXAMPLES=${EXAMPLES})
  run(${CMAKE_COMMAND} --build ${build})
  program_of(${component})
  expect_answer(${component} ${build}/${program})
endforeach()
if(hw IN_LIST components)
  run(${WORK_DIR}/hw/one_rank_calls)
endif()
run(${WORK_DIR}/sched/implied_edges)
run(${WORK_DIR}/analysis/fit_latencies)
if(EXISTS ${WORK_DIR}/analysis/makespan_programme)
  run(${WORK_DIR}/analysis/makespan_programme)
else()
  message(STATUS "makespan_programme was not built: no Clp here")
endif()

# The package for Python, from the folder where an interpreter of that prefix would look; its program
# is the one of the prefix.
if(PYTHON)
  set(ENV{PYTHONPATH} ${WORK_DIR}/moved/${PYTHON_DIR})
  set(ENV{SLACKLINE_PROGRAM} "")
  run(${PYTHON} ${SOURCE_DIR}/import_slackline.py ${WORK_DIR}/moved)
  if(NOT output STREQUAL expected)
    message(FATAL_ERROR "import slackline gave '${output}'; expected the digest '${expected}'")
  endif()
endif()

find_program(PKG_CONFIG pkg-config)
if(PKG_CONFIG)
  set(ENV{PKG_CONFIG_PATH} ${WORK_DIR}/moved/${LIBDIR}/pkgconfig)
  foreach(component IN ITEMS base sched)
    program_of(${component})
    run(${PKG_CONFIG} --cflags slackline-${component})
    separate_arguments(flags UNIX_COMMAND "${output}")
    run(${CXX} ${flags} -c ${SOURCE_DIR}/${program}.cc -o ${WORK_DIR}/${program}.o)
  endforeach()
  foreach(component IN LISTS components)
    run(${PKG_CONFIG} --libs slackline-${component})
    separate_arguments(flags UNIX_COMMAND "${output}")
    # All objects of the library, as above.
    list(TRANSFORM flags REPLACE "^(-lslackline_${component})$"
      "-Wl,--whole-archive;\\1;-Wl,--no-whole-archive")
    program_of(${component})
    run(${CXX} ${WORK_DIR}/${program}.o ${flags} -o ${WORK_DIR}/linked_${component})
    expect_answer(${component} ${WORK_DIR}/linked_${component})
  endforeach()
endif()
message(STATUS "digest ${expected} from each installed library alone, too: ${COMPONENTS}")
file(REMOVE_RECURSE ${WORK_DIR})
