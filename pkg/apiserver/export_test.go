/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver

import quota "k8s.io/apiserver/pkg/quota/v1"

// QuotaConfiguration lets tests compare what is counted with what is served.
func QuotaConfiguration() quota.Configuration {
	return quotaConfiguration()
}
