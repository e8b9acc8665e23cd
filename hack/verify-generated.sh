#!/usr/bin/env bash
# Copyright 2026 The inference-cache Authors.
# SPDX-License-Identifier: Apache-2.0

# Regenerates everything and fails if a file changed, appeared or went away.
#
# The tree is compared with what it was before, not with the last commit, so the
# check can also be run on work in progress. What is compared are git trees made
# with an index and an object store of their own: the repository's stay as they
# are.

set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scratch=$(mktemp -d)
trap 'rm -rf "${scratch}"' EXIT
mkdir "${scratch}/objects"
objects=$(git rev-parse --path-format=absolute --git-path objects)

# scratch_git runs git on the scratch index and object store.
scratch_git() {
  GIT_INDEX_FILE="${scratch}/index" GIT_OBJECT_DIRECTORY="${scratch}/objects" \
    GIT_ALTERNATE_OBJECT_DIRECTORIES="${objects}" git "$@"
}

snapshot() {
  scratch_git add --all
  scratch_git write-tree
}

before=$(snapshot)
"${MAKE:-make}" --no-print-directory generate
after=$(snapshot)

if ! scratch_git diff --exit-code --stat "${before}" "${after}"; then
  scratch_git --no-pager diff "${before}" "${after}" | sed -n 1,200p
  echo "hack/verify-generated.sh: generated files are out of date; run make generate and commit the result" >&2
  exit 1
fi
