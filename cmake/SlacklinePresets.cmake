# The presets of machine/ become part of its library.
file(GLOB slackline_presets CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/machine/presets/*.toml)
set(slackline_presets_source ${PROJECT_BINARY_DIR}/machine/presets.cc)
add_custom_command(OUTPUT ${slackline_presets_source}
  COMMAND ${CMAKE_COMMAND} -D OUT=${slackline_presets_source}
    -P ${PROJECT_SOURCE_DIR}/cmake/EmbedPresets.cmake ${slackline_presets}
  DEPENDS ${slackline_presets} ${PROJECT_SOURCE_DIR}/cmake/EmbedPresets.cmake
  COMMENT "Embedding the platform presets" VERBATIM)
target_sources(slackline_machine PRIVATE ${slackline_presets_source})
