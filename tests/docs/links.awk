# Checks the links of Markdown documents (plain POSIX awk):  awk -f links.awk README.md docs/*.md
#
# Each relative link must point to an existing file or folder, and its #heading to a heading of one of the documents
# given. Addresses with a scheme (https://...) are not looked at, nor is anything in code.

function folder(path) { return path ~ /\// ? substr(path, 1, match(path, /[^\/]*$/) - 1) : "" }

# "a/../b" and "./b" are b.
function simplified(path,    before) {
  while (sub(/^\.\//, "", path) || gsub(/\/\.\//, "/", path)) continue
  do {
    before = path
    sub(/[^\/.][^\/]*\/\.\.\//, "", path)
  } while (path != before)
  return path
}

# How a heading is called in a link: lower case, without punctuation, blanks as hyphens.
function anchor(heading) {
  heading = tolower(heading)
  gsub(/[^a-z0-9 _-]/, "", heading)
  gsub(/ /, "-", heading)
  return heading
}

function note(at, from, target) {
  if (target ~ /^[a-z][a-z0-9+.-]*:/) return
  link_at[++links] = at
  link_from[links] = from
  link[links] = target
}

FNR == 1 { code = 0 }
/^```/ { code = !code; next }
code { next }

/^#+ / {
  heading = $0
  sub(/^#+ +/, "", heading)
  heading = anchor(heading)
  is_heading[FILENAME, seen[FILENAME, heading]++ ? heading "-" (seen[FILENAME, heading] - 1) : heading] = 1
}

{
  is_document[FILENAME] = 1
  rest = $0
  gsub(/`[^`]*`/, "", rest)
  while (match(rest, /\]\([^) \t]*[) \t]/) || match(rest, /(src|href)="[^"]*"/)) {
    target = substr(rest, RSTART, RLENGTH)
    rest = substr(rest, RSTART + RLENGTH)
    sub(/^(\]\(|(src|href)=")/, "", target)
    sub(/[) \t"]$/, "", target)
    note(FILENAME ":" FNR, FILENAME, target)
  }
}

END {
  for (i = 1; i <= links; ++i) {
    path = link[i]
    hash = index(path, "#")
    heading = hash ? substr(path, hash + 1) : ""
    if (hash) path = substr(path, 1, hash - 1)
    path = path == "" ? link_from[i] : simplified(folder(link_from[i]) path)
    quoted = path
    gsub(/'/, "'\\''", quoted)
    if (path ~ /^\//) {
      printf "%s: %s: a link of this project is relative\n", link_at[i], link[i]
      failed = 1
    } else if (system("test -e '" quoted "'") != 0) {
      printf "%s: %s: there is no %s\n", link_at[i], link[i], path
      failed = 1
    } else if (heading != "" && (path in is_document) && !((path, heading) in is_heading)) {
      printf "%s: %s: %s has no such heading\n", link_at[i], link[i], path
      failed = 1
    }
  }
  printf "%d links checked\n", links
  exit failed
}
