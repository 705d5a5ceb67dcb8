# What the system offers. Every part that is missing is named, with what is lost and how to get it; nothing here is required.
#
# Results: the interface target taut_features (definitions and include folders), and taut_libraries (what to link).
add_library(taut_features INTERFACE)
set(taut_libraries m)
set(taut_private_libs "-lm") # for pkg-config: what static linking needs

option(TAUT_LAPACK "Use LAPACK (OpenBLAS) when it is there" ON)
option(TAUT_ARPACK "Use ARPACK when it is there" ON)
option(TAUT_MUMPS "Use sequential MUMPS when it is there" ON)
option(TAUT_HDF5 "Use HDF5 (serial) when it is there" ON)

# A library of a standard folder is linked by name, so that installed files carry no path of the building machine.
function(taut_link result path)
  get_filename_component(folder "${path}" DIRECTORY)
  get_filename_component(name "${path}" NAME_WE)
  string(REGEX REPLACE "^lib" "" name "${name}")
  if(folder IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES)
    set(${result} ${name} PARENT_SCOPE)
  else()
    set(${result} ${path} PARENT_SCOPE)
  endif()
endfunction()

# taut_feature(NAME title found loss package libraries...): records one part and says what became of it.
function(taut_feature name title found loss package)
  if(NOT found)
    message(STATUS "Taut: ${title}: missing. ${loss} (Debian: ${package})")
    return()
  endif()
  message(STATUS "Taut: ${title}: found")
  target_compile_definitions(taut_features INTERFACE TAUT_HAVE_${name})
  set(libraries ${taut_libraries})
  set(flags ${taut_private_libs})
  foreach(path ${ARGN})
    taut_link(item "${path}")
    list(APPEND libraries ${item})
    if(IS_ABSOLUTE "${item}")
      set(flags "${flags} ${item}")
    else()
      set(flags "-l${item} ${flags}")
    endif()
  endforeach()
  set(taut_libraries ${libraries} PARENT_SCOPE)
  set(taut_private_libs "${flags}" PARENT_SCOPE)
endfunction()

function(taut_both result)
  set(all TRUE)
  foreach(value ${ARGN})
    if(NOT value)
      set(all FALSE)
    endif()
  endforeach()
  set(${result} ${all} PARENT_SCOPE)
endfunction()

if(TAUT_CORE)
  target_compile_definitions(taut_features INTERFACE TAUT_CORE)
  message(STATUS "Taut: core build: libc and libm only")
  return()
endif()

if(TAUT_LAPACK)
  find_library(TAUT_OPENBLAS_LIBRARY openblas)
  taut_feature(LAPACK "LAPACK (OpenBLAS)" "${TAUT_OPENBLAS_LIBRARY}"
               "Dense systems and eigenvalues use Taut's own kernels: slower above a few hundred unknowns." libopenblas-dev
               ${TAUT_OPENBLAS_LIBRARY})
endif()

if(TAUT_ARPACK)
  find_library(TAUT_ARPACK_LIBRARY arpack)
  taut_feature(ARPACK "ARPACK" "${TAUT_ARPACK_LIBRARY}"
               "Extreme frequencies of large systems use Taut's own Lanczos iteration." libarpack2-dev ${TAUT_ARPACK_LIBRARY})
endif()

if(TAUT_MUMPS)
  find_path(TAUT_MUMPS_INCLUDE dmumps_c.h)
  find_library(TAUT_DMUMPS_LIBRARY dmumps_seq)
  find_library(TAUT_ZMUMPS_LIBRARY zmumps_seq)
  taut_both(mumps_found ${TAUT_MUMPS_INCLUDE} ${TAUT_DMUMPS_LIBRARY} ${TAUT_ZMUMPS_LIBRARY})
  taut_feature(MUMPS "MUMPS (sequential, real and complex)" ${mumps_found}
               "Large systems without a narrow band use the banded solver: more time and memory." libmumps-seq-dev
               ${TAUT_DMUMPS_LIBRARY} ${TAUT_ZMUMPS_LIBRARY})
  if(mumps_found)
    target_include_directories(taut_features SYSTEM INTERFACE ${TAUT_MUMPS_INCLUDE})
  endif()
endif()

if(TAUT_HDF5)
  find_path(TAUT_HDF5_INCLUDE hdf5.h PATH_SUFFIXES hdf5/serial)
  find_library(TAUT_HDF5_LIBRARY NAMES hdf5_serial hdf5)
  taut_both(hdf5_found ${TAUT_HDF5_INCLUDE} ${TAUT_HDF5_LIBRARY})
  taut_feature(HDF5 "HDF5 (serial)" ${hdf5_found} "Runs write CSV but no .h5 files." libhdf5-dev ${TAUT_HDF5_LIBRARY})
  if(hdf5_found)
    target_include_directories(taut_features SYSTEM INTERFACE ${TAUT_HDF5_INCLUDE})
  endif()
endif()

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads QUIET)
if(CMAKE_THREAD_LIBS_INIT)
  list(APPEND taut_libraries ${CMAKE_THREAD_LIBS_INIT})
  set(taut_private_libs "${taut_private_libs} ${CMAKE_THREAD_LIBS_INIT}")
endif()
foreach(library ${CMAKE_DL_LIBS})
  list(APPEND taut_libraries ${library})
  set(taut_private_libs "${taut_private_libs} -l${library}")
endforeach()

find_program(TAUT_GNUPLOT gnuplot)
if(NOT TAUT_GNUPLOT)
  message(STATUS "Taut: gnuplot: missing. Runs write CSV but no pictures. (Debian: gnuplot-nox; found when the program runs)")
endif()
