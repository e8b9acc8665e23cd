#!/usr/bin/env bash
# Copyright 2026 The inference-cache Authors.
# SPDX-License-Identifier: Apache-2.0

# Fails on Go files that gofmt would change, whether git tracks them yet or not.

set -o errexit -o nounset -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

unformatted=$(git ls-files -z --cached --others --exclude-standard -- '*.go' |
  while IFS= read -r -d '' file; do [[ -f "${file}" ]] && printf '%s\0' "${file}"; done |
  xargs -0 gofmt -l)
if [[ -n "${unformatted}" ]]; then
  printf 'not formatted, run gofmt -w:\n%s\n' "${unformatted}" >&2
  exit 1
fi
