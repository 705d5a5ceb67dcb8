#!/bin/sh
# test_plain_words.sh - plain technical English: phrases that readers from outside did not understand are absent from messages, comments and
# documents; messages of the library name no option of the command line. Checked are the documents, comments and strings of src, cli and
# include, and comments of tests, bench, examples, tools and cmake.
set -u
here=$(cd "$(dirname "$0")" && pwd)
. "$here/table.sh"
cd "$here/.." || exit 1
if [ ! -x /usr/bin/python3 ]; then
    skip "no python3"
    done_rows
    exit
fi
found=$(mktemp) || exit 1
trap 'rm -f "$found"' EXIT
cat >"$found.py" <<'END'
import glob, os, re, sys

# what is not written, and what is written instead
phrases = [
    (r"anew", "again"),
    (r"of late", "recently"),
    (r"hardly", "negligible, weakly, almost not"),
    (r"(is|are|was|were|be) told", "is reported"),
    (r"left all bounds", "the solution diverged"),
    (r"(not )?in this version", "unsupported; available: ..."),
    (r"equal steps", "fixed step size"),
    (r"error control", "adaptive step size"),
    (r"nothing tells", "is undetermined"),
    (r"whoever", "the caller, the user"),
    (r"(nobody|somebody)", "name the part of the program"),
    (r"beside", "in addition to, compared with, next to"),
    (r"ring(s|ing)?|rang", "oscillate"),
    (r"rods?", "rigid bond"),
    (r"(cannot|can) treat|treats", "support"),
    (r"is needed: the time of the end", "an end time is required"),
    (r"cannot be taken", "no step succeeded"),
    (r"there is no '", "unknown '...'; choose ..."),
    (r"what belongs to", "name the thing"),
    (r"comes? for nothing", "needs no further work"),
    (r"(lies|ends?|landed|stays) over", "has the foot point"),
    (r"glides?", "moves along the bonds"),
]
# names of models and bonds, quoted words of other programs
allowed = re.compile(r"quartic_rod|lambda\(rod\)|\brod( =|'|\))|`rod`|connecting rod|rods\.h")

literal = r'"(?:\\.|[^"\\\n])*"'
tokens = re.compile(r'(%s|\'(?:\\.|[^\'\\\n])*\')|(/\*.*?\*/|//[^\n]*)' % literal, re.S)

def of_c(text, strings):
    """Comments, and strings when wanted, with their lines; neighbouring strings are one text."""
    parts = []
    for m in tokens.finditer(text):
        line = text.count("\n", 0, m.start()) + 1
        if m.group(2):
            parts.append((line, re.sub(r"\n\s*\*", "\n", m.group(2)), "comment"))
        elif strings and m.group(1)[0] == '"':
            parts.append((line, m.group(1)[1:-1], "string"))
    return parts

def of_script(text):
    return [(k + 1, re.sub(r"^[^#]*", "", l), "comment") for k, l in enumerate(text.split("\n"))
            if re.search(r"(^|\s)#(?!!)", l) and "expect" not in l]

def of_page(text):
    text = re.sub(r"^```.*?^```", lambda m: "\n" * m.group(0).count("\n"), text, flags=re.S | re.M)
    return [(k + 1, l, "page") for k, l in enumerate(text.split("\n")) if not l.startswith("    ")]

def files(*patterns):
    return sorted(f for p in patterns for f in glob.glob(p, recursive=True) if os.path.isfile(f))

total = 0
def check(path, parts):
    global total
    total += len(parts)
    for line, text, kind in parts:
        clean = allowed.sub("", text)
        for phrase, instead in phrases:
            for m in re.finditer(r"(?<![\w-])(?:%s)(?![\w-])" % phrase if phrase[-1] != "'" else phrase, clean, re.I):
                at = line + clean.count("\n", 0, m.start())
                print("%s:%d: '%s' (write: %s)" % (path, at, m.group(0), instead))
        if kind == "string" and path.startswith("src/") and path not in ("src/base/options.c", "src/expr/native.c"):
            for m in re.finditer(r"(?<![\w-])--[a-z]\S*", text):
                print("%s:%d: a message of the library names the option '%s'" % (path, line, m.group(0)))

for f in files("src/**/*.[ch]", "cli/**/*.[ch]", "include/**/*.h"):
    check(f, of_c(open(f).read(), True))
for f in files("tests/**/*.[ch]", "bench/*.[ch]", "examples/*.c", "examples/*.cpp"):
    check(f, of_c(open(f).read(), False))
for f in files("tests/*.sh", "tests/run", "bench/*.sh", "tools/*", "cmake/*.cmake", "CMakeLists.txt", "Makefile", ".ci/run",
               "models/*.taut"):
    if not f.endswith(("packages.txt", "test_plain_words.sh")):
        check(f, of_page(open(f).read()) if f == "tools/demo" else of_script(open(f).read()))
for f in files("docs/*.md", "*.md"):
    check(f, of_page(open(f).read()))
if total < 10000:
    print("only %d texts were checked" % total)
END
/usr/bin/python3 "$found.py" >"$found" 2>&1
row $? "the phrases could not be searched: $(tail -n 1 "$found")"
rm -f "$found.py"
for folder in src/base src/expr src/linalg src/system src/model src/step src/blackbox src/io src/point src/slow src/filter src/vibration \
    src/wrap src/project src/drive src/verbs include cli tests bench examples tools cmake models .ci docs; do
    grep "^$folder/" "$found" | head -n "${TAUT_TEST_SHOWN:-5}"
    ! grep -q "^$folder/" "$found"
    row $? "$(grep -c "^$folder/" "$found") phrases in $folder"
done
! grep -v / "$found"
row $? "phrases in the documents of the top folder"
done_rows
