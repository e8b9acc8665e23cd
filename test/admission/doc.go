/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package admission tests what the API accepts and refuses, with the validation,
// the defaults and the declarations of the adapters taken together.
//
// The rules are tables under testdata/rules: each has a name, the field that it
// speaks of, one sentence, manifests that it accepts and manifests that it
// refuses with all that a client is told. The tests of refusal, of updates to
// stored objects that break a rule, and the page docs/reference/validation.md
// come from the same tables.
package admission
