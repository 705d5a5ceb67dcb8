# Installation: header, libraries, program, models, man page and completions, find_package(Taut), pkg-config taut.
include(CMakePackageConfigHelpers)

# The program finds its library relative to its own folder.
if(TARGET taut_program)
  file(RELATIVE_PATH from_bin_to_lib "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBDIR}")
  set_target_properties(taut_program PROPERTIES INSTALL_RPATH "$ORIGIN/${from_bin_to_lib}")
  install(TARGETS taut_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

install(TARGETS taut taut_static EXPORT TautTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/taut DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(DIRECTORY models/ DESTINATION ${CMAKE_INSTALL_DATADIR}/taut/models
        FILES_MATCHING PATTERN "*.taut" PATTERN "*.csv")
install(DIRECTORY reproduce/ DESTINATION ${CMAKE_INSTALL_DATADIR}/taut/reproduce FILES_MATCHING PATTERN "*.txt")
install(FILES README.md LICENSE CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

# find_package(Taut): Taut::taut (shared) and Taut::taut_static
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Taut)
install(EXPORT TautTargets NAMESPACE Taut:: DESTINATION ${package_folder})
configure_package_config_file(cmake/TautConfig.cmake.in ${PROJECT_BINARY_DIR}/TautConfig.cmake
                              INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/TautConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/TautConfig.cmake ${PROJECT_BINARY_DIR}/TautConfigVersion.cmake DESTINATION ${package_folder})

# pkg-config: the prefix is found from the file's own place, so that a moved or staged tree stays right.
file(RELATIVE_PATH from_pc_to_prefix "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" from_pc_to_prefix "${from_pc_to_prefix}")
file(RELATIVE_PATH pc_libdir "${CMAKE_INSTALL_PREFIX}" "${CMAKE_INSTALL_FULL_LIBDIR}")
file(RELATIVE_PATH pc_includedir "${CMAKE_INSTALL_PREFIX}" "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
configure_file(cmake/taut.pc.in ${PROJECT_BINARY_DIR}/taut.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/taut.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# The program writes its own man page and completions from its tables, so that they cannot differ from it.
if(TARGET taut_program AND NOT CMAKE_CROSSCOMPILING)
  install(CODE "
    function(taut_generate path)
      set(file \"${PROJECT_BINARY_DIR}/generated/\${path}\")
      get_filename_component(folder \"\${path}\" DIRECTORY)
      file(MAKE_DIRECTORY \"${PROJECT_BINARY_DIR}/generated/\${folder}\")
      execute_process(COMMAND \"$<TARGET_FILE:taut_program>\" help \${ARGN} OUTPUT_FILE \"\${file}\" RESULT_VARIABLE status)
      if(status EQUAL 0)
        file(INSTALL \"\${file}\" DESTINATION \"\${CMAKE_INSTALL_PREFIX}/\${folder}\")
      else()
        message(FATAL_ERROR \"taut help \${ARGN} failed: \${status}\")
      endif()
    endfunction()
    taut_generate(${CMAKE_INSTALL_MANDIR}/man1/taut.1 --man)
    taut_generate(${CMAKE_INSTALL_DATADIR}/bash-completion/completions/taut --completion bash)
    taut_generate(${CMAKE_INSTALL_DATADIR}/zsh/site-functions/_taut --completion zsh)
    taut_generate(${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d/taut.fish --completion fish)")
endif()
