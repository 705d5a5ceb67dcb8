# Flags of everything that is compiled here, as the interface target taut_flags.
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)

add_library(taut_flags INTERFACE)
target_compile_options(taut_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wpointer-arith -Wcast-qual
  # the same numbers with and without fused multiply-add instructions
  -ffp-contract=off
  # sqrt as one instruction: errno is not read after mathematics, and no value changes
  -fno-math-errno
  # no folder of the building machine inside the results
  $<$<CONFIG:Release>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=>)
# gcc copies and clears where it knows a bound of the size by string instructions of the processor, which begin slowly: rather the C library
include(CheckCCompilerFlag)
check_c_compiler_flag(-mstringop-strategy=libcall TAUT_HAS_STRINGOP)
if(TAUT_HAS_STRINGOP)
  target_compile_options(taut_flags INTERFACE -mstringop-strategy=libcall)
endif()
if(TAUT_WERROR)
  target_compile_options(taut_flags INTERFACE -Werror)
endif()

if(TAUT_SANITIZE OR TAUT_FUZZ OR TAUT_SANITIZE_THREADS)
  if(TAUT_SANITIZE_THREADS)
    set(sanitizers -fsanitize=thread -fno-omit-frame-pointer)
  else()
    set(sanitizers -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  endif()
  target_compile_options(taut_flags INTERFACE ${sanitizers})
  target_link_options(taut_flags INTERFACE ${sanitizers})
endif()
if(TAUT_FUZZ)
  if(NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "TAUT_FUZZ needs clang: configure with -DCMAKE_C_COMPILER=clang")
  endif()
  target_compile_options(taut_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
