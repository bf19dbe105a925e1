# Takes the programs out of Markdown documents, with what they print (plain POSIX awk; docs/adding.md, "Documents").
#
#   awk -v out=FOLDER -f extract.awk README.md docs/*.md
#
# writes FOLDER/NAME.cpp and FOLDER/NAME.txt for each pair of fenced blocks
#
#   ```cpp example=NAME     a complete program
#   ```text output=NAME     what it prints: later in the same document
#
# and prints the names, a line each. "```cpp fragment of=NAME" shows lines of example NAME, of any document, once more:
# each of its lines that is not blank must be a line of that example, indentation apart. Any other C++ block, a pair
# that is not complete, and an unknown language or tag are errors: the exit code is 1 and standard error says where.

function fail(at, message) {
  printf "%s: %s\n", at, message | "cat 1>&2"
  failed = 1
}

function trimmed(s) {
  gsub(/^[ \t]+|[ \t]+$/, "", s)
  return s
}

# The part of a tag after "key=", or nothing if it is not a name.
function name_in(tag, key,    name) {
  if (index(tag, key "=") != 1) return ""
  name = substr(tag, length(key) + 2)
  return name ~ /^[a-z][a-z0-9_]*$/ ? name : ""
}

function open_block(    info, words, word) {
  opened = FILENAME ":" FNR
  kind = "other"
  info = trimmed(substr($0, 4))
  words = split(info, word, /[ \t]+/)
  if (word[1] == "cpp") {
    if (words == 2 && (name = name_in(word[2], "example")) != "") {
      kind = "example"
      if (name in example) fail(opened, "example " name " is there already, at " example[name])
      example[name] = opened
      document[name] = FILENAME
      order[++examples] = name
      printf "" > (out "/" name ".cpp")
    } else if (words == 3 && word[2] == "fragment" && (name = name_in(word[3], "of")) != "") {
      kind = "fragment"
    } else {
      fail(opened, "\"" info "\": C++ is \"cpp example=NAME\" or \"cpp fragment of=NAME\", NAME in a-z, 0-9 and _")
    }
  } else if (word[1] == "text" && words > 1) {
    if (words == 2 && (name = name_in(word[2], "output")) != "") {
      kind = "output"
      if (document[name] != FILENAME)
        fail(opened, "output of " name ", but no example " name " above it in this document")
      if (name in output) fail(opened, "output of " name " is there already, at " output[name])
      output[name] = opened
      printf "" > (out "/" name ".txt")
    } else {
      fail(opened, "\"" info "\": text is \"text\" or \"text output=NAME\"")
    }
  } else if (words != 1 || info !~ /^(text|sh|cmake|json|math)$/) {
    fail(opened, "\"" info "\": a block is cpp, text, sh, cmake, json or math, and only cpp and text have tags")
  }
}

function close_block() {
  if (kind == "example") close(out "/" name ".cpp")
  if (kind == "output") close(out "/" name ".txt")
  kind = ""
}

FNR == 1 && kind != "" {
  fail(opened, "this block is never closed")
  close_block()
}

/^[ \t]+```/ || /^[ \t]*~~~/ { fail(FILENAME ":" FNR, "a block opens and closes with ``` at the left margin"); next }

/^```/ {
  if (kind == "") {
    open_block()
  } else if ($0 ~ /^```[ \t]*$/) {
    close_block()
  } else {
    fail(opened, "this block is not closed before the next one")
    close_block()
    open_block()
  }
  next
}

kind == "example" {
  print > (out "/" name ".cpp")
  line_of[name, trimmed($0)] = 1
}

kind == "output" { print > (out "/" name ".txt") }

kind == "fragment" && trimmed($0) != "" {
  fragment_of[++fragments] = name
  fragment_line[fragments] = trimmed($0)
  fragment_at[fragments] = FILENAME ":" FNR
}

END {
  if (kind != "") fail(opened, "this block is never closed")
  for (i = 1; i <= examples; ++i) {
    if (!(order[i] in output)) fail(example[order[i]], "example " order[i] " has no block \"text output=" order[i] "\"")
    print order[i]
  }
  for (i = 1; i <= fragments; ++i)
    if (!((fragment_of[i], fragment_line[i]) in line_of))
      fail(fragment_at[i], "not a line of example " fragment_of[i] ": " fragment_line[i])
  close("cat 1>&2")
  exit failed
}
