/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package index

// HidesTenant reports whether a tenant is Options.HiddenTenant.
func (x *Index) HidesTenant(name string) bool {
	return name != "" && name == x.options.HiddenTenant
}

// hides reports whether a session is of the hidden tenant.
func (x *Index) hides(s *Session) bool { return x.HidesTenant(s.hello.Tenant) }
