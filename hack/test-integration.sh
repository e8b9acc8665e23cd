#!/usr/bin/env bash
# Copyright 2026 The inference-cache Authors.
# SPDX-License-Identifier: Apache-2.0

# Usage: hack/test-integration.sh [ARGUMENT-OF-GO-TEST...]
#
# Runs the tests behind the build tag "integration". They find kubectl and
# python3 (with pyzmq) first on the path, and our programs in bin/;
# `make test-integration` builds those.

set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

python=$(hack/python-env.sh)
PATH="${PWD}/bin:${python}/bin:${PATH}"
export PATH
KUBECTL="${PWD}/bin/kubectl"
export KUBECTL
PYTHON="${python}/bin/python3"
export PYTHON

mapfile -t packages < <(
  grep -rlE --include='*_test.go' '^//go:build .*\bintegration\b' cmd pkg test | xargs -r -n1 dirname | sort -u | sed 's|^|./|'
)
if ((${#packages[@]} == 0)); then
  echo "hack/test-integration.sh: no test file carries the build tag integration" >&2
  exit 1
fi
# The programs under test are no inputs that go test can see, so no result of an
# earlier run may stand in for this one.
go test -tags=integration -count=1 -timeout=30m "$@" "${packages[@]}"
