/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

// Package validation holds the rules that objects of the group must keep, on the
// hub types and independent of the served version.
//
// A function named Validate… takes a whole object, already defaulted, and
// returns every violation it finds, each at the path under which a client knows
// the field and with a text that says how to mend it. It decides by the objects
// alone: it reads nothing else, changes nothing and may be called concurrently.
//
// A function named Validate…Update refuses only what the update introduces. A
// violation that the stored object has already, because it was stored under
// looser rules, does not keep anybody from editing something else.
package validation
