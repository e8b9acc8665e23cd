/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package standalone

import (
	"io"
	"text/template"
)

// Banner is what a user of the standalone server is told when it serves.
type Banner struct {
	// Version is the program's version.
	Version string
	// DataDir is where everything is kept.
	DataDir string
	// Kubeconfig, TokenFile and CAFile are the paths of the credentials.
	Kubeconfig, TokenFile, CAFile string
	// APIAddress and GRPCAddress are host:port of the two listeners.
	APIAddress, GRPCAddress string
	// ExternalEtcd says that storage is not in DataDir.
	ExternalEtcd bool
}

var bannerText = template.Must(template.New("banner").Parse(`
inference-cache {{.Version}}, standalone
  API         https://{{.APIAddress}}
  gRPC        {{.GRPCAddress}} (TLS; {{.CAFile}}, {{.TokenFile}})
  data        {{.DataDir}}{{if .ExternalEtcd}} (credentials only; objects are in the given etcd){{end}}
  kubeconfig  {{.Kubeconfig}}

Absent, because there is no cluster behind this server:
  namespaces   any namespace name is accepted; deleting one is not possible
  quota        ResourceQuota is not enforced
  admission    no webhooks and no admission policies
  access       one user, the holder of the token; no RBAC
  controllers  no garbage collection, nothing acts on the objects

Try:
  export KUBECONFIG={{.Kubeconfig}}
  kubectl get cachebackends --all-namespaces

`))

// Write prints the banner.
func (b Banner) Write(w io.Writer) error {
	return bannerText.Execute(w, b)
}
