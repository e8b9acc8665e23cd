#!/usr/bin/env bash
# Copyright 2026 The inference-cache Authors.
# SPDX-License-Identifier: Apache-2.0

# Usage: hack/fuzz.sh TIME REGEXP
#
# Finds every fuzz target of the module and runs those that match for TIME each.
# Go takes one target at a time; an input that fails is kept under testdata/ of
# its package and fails the ordinary tests from then on.

set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

time=${1:?usage: hack/fuzz.sh TIME REGEXP}
chosen=${2:?usage: hack/fuzz.sh TIME REGEXP}
failed=()
ran=0

while IFS=: read -r file target; do
  [[ "${target}" =~ ${chosen} ]] || continue
  package="./$(dirname "${file}")"
  echo "== ${target} in ${package}, ${time}"
  ran=$((ran + 1))
  go test -run='^$' -fuzz="^${target}\$" -fuzztime="${time}" "${package}" || failed+=("${package} ${target}")
done < <(grep -roE --include='*_test.go' '^func Fuzz\w+' cmd pkg test | sed 's/func //' | sort)

if ((ran == 0)); then
  echo "hack/fuzz.sh: no fuzz target matches ${chosen}" >&2
  exit 1
fi
if ((${#failed[@]} > 0)); then
  printf 'failed: %s\n' "${failed[@]}" >&2
  exit 1
fi
