# Puts files of web/ together into one C file: a page with its styles and its scripts in place, as the bytes before and after the data.
#
#   cmake -D SOURCE=web -D PAGE=page.html -D STYLES="a.css b.css" -D SCRIPTS="a.js b.js" -D PREFIX=taut_page -D HEADER=io/page.h
#         -D OUTPUT=page_text.c -P cmake/Page.cmake
file(READ ${SOURCE}/${PAGE} page)
# The files of a list, one after the other, each behind its name in a comment.
function(join result names before after)
  set(all "")
  string(REPLACE " " ";" names "${names}")
  foreach(name IN LISTS names)
    file(READ ${SOURCE}/${name} text)
    string(APPEND all "${before}${name}${after}\n${text}")
  endforeach()
  set(${result} "${all}" PARENT_SCOPE)
endfunction()
join(style "${STYLES}" "/* " " */")
join(script "${SCRIPTS}" "// " "")

function(put result name text)
  file(WRITE ${OUTPUT}.part "${text}")
  file(READ ${OUTPUT}.part hex HEX)
  file(REMOVE ${OUTPUT}.part)
  string(REGEX REPLACE "(................................................)" "\\1\n" hex "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
  set(${result} "const unsigned char ${PREFIX}_${name}[] = {\n${hex}};\nconst size_t ${PREFIX}_${name}_size = sizeof ${PREFIX}_${name};\n" PARENT_SCOPE)
endfunction()

# by place, so that nothing in the texts is replaced
function(split before after text mark)
  string(FIND "${text}" "${mark}" place)
  string(LENGTH "${mark}" length)
  string(SUBSTRING "${text}" 0 ${place} first)
  math(EXPR place "${place} + ${length}")
  string(SUBSTRING "${text}" ${place} -1 second)
  set(${before} "${first}" PARENT_SCOPE)
  set(${after} "${second}" PARENT_SCOPE)
endfunction()
split(head rest "${page}" "@STYLE@")
split(between rest "${rest}" "@DATA@")
split(middle end "${rest}" "@SCRIPT@")
put(first head "${head}${style}${between}")
put(second tail "${middle}${script}${end}")
file(WRITE ${OUTPUT} "/* made by cmake/Page.cmake from web/ */\n#include \"${HEADER}\"\n\n${first}\n${second}")
