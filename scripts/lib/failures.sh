# shellcheck shell=bash
# What failed and why, in a few lines for each test: the last thing that a run says. Sourced, never run.

# unit_failures LOG: of Catch2.
unit_failures() {
  awk '
    /^----------*$/ { if (titles++ % 2 == 0) name = ""; next }
    titles % 2 == 1 && name == "" { name = $0 }
    / FAILED:$/ || /due to unexpected exception/ { print "unit: " name; left = 6 }
    left > 0 && NF > 0 { print "    " $0; left-- }' "$1" | head -60
  sed -n 's/^\(seed [0-9]*: .*\)/unit: simulation: \1/p' "$1" | head -3
}

# regress_failures DIRECTORY: of pg_regress.
regress_failures() {
  sed -nE 's/^(test|not ok [0-9]+ *[-+]) +([a-z_]+) +(\.\.\. FAILED|[0-9]+ ms).*/\2/p' "$1/pg_regress.log" |
    while read -r name; do
      diff -U0 "$1/expected/$name.out" "$1/results/$name.out" >"$1/$name.diff" 2>&1 && continue
      echo "SQL: $name"
      sed -n '3,8s/^/    /p' "$1/$name.diff"
    done
  sed -nE 's/^(pg_regress: (error|could not).*|Bail out.*)/SQL: \1/p' "$1/pg_regress.log"
}

# tap_failures DIRECTORY: of prove. The log of a test has what it printed, with the time before some of
# the lines, and nothing of the others.
tap_failures() {
  local file log
  sed -nE 's/^(t\/[^ ]+\.pl) .*\(Wstat: .*/\1/p' "$1/prove.log" | while read -r file; do
    log=$1/$(basename "$file" .pl).log
    sed -E 's/^\[[0-9:.]+\]\([0-9.]+s\) ?//' "$1/tmp_check/log/regress_log_$(basename "$file" .pl)" >"$log" || true
    if grep -q '^ *#   Failed test' "$log"; then
      awk -v file="$file" '
        /^ *#   Failed test / { print "TAP: " file; left = 7 }
        left > 0 && /^ *#/ { print "    " $0; left--; next }
        { left = 0 }' "$log"
    else
      echo "TAP: $file ended before its last test"
      grep -vE '^(ok |### |# (Running|No postmaster|Tests were run|Looks like)|waiting for|server )' "$log" |
        tail -n 4 | sed 's/^/    /'
    fi
  done | cut -c1-400 | head -80
}
