/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controlplane

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

const (
	// administrators may do everything; the group is bound by Kubernetes itself.
	administrators = "system:masters"
	// proxyUser is who the aggregation layer is to the servers behind it.
	proxyUser = "front-proxy-client"
	// contextName is the name of cluster, user and context in each kubeconfig.
	contextName = "inference-cache-test"
)

// clientUsers are the programs that are clients of kube-apiserver and who they
// are to it. Kubernetes brings the rights of its own; kwok acts as every kubelet
// and creates what it likes.
var clientUsers = map[program]struct {
	user   string
	groups []string
}{
	controllerManager: {user: "system:kube-controller-manager"},
	scheduler:         {user: "system:kube-scheduler"},
	kwok:              {user: "kwok", groups: []string{administrators}},
}

// credentials are all secrets of a cluster, as files in a directory.
type credentials struct {
	dir string
	// clients signs for users and for the servers of Kubernetes, proxies for the
	// aggregation layer, stores for etcd and its only client.
	clients, proxies, stores *authority
	// token is the administrator's.
	token string
}

// path names one of the files.
func (c *credentials) path(name string) string { return filepath.Join(c.dir, name) }

// makeCredentials fills a directory with what the programs need.
func makeCredentials(dir string) (*credentials, error) {
	c := &credentials{dir: dir, token: rand.Text()}
	for name, a := range map[string]**authority{"ca": &c.clients, "front-proxy-ca": &c.proxies, "etcd-ca": &c.stores} {
		made, err := newAuthority(contextName + " " + name)
		if err != nil {
			return nil, err
		}
		*a = made
		if err := c.write(name, made.keyPair); err != nil {
			return nil, err
		}
	}
	server, serverErr := c.clients.server("kube-apiserver",
		[]string{"kubernetes", "kubernetes.default", "kubernetes.default.svc"}, net.ParseIP(firstServiceIP))
	etcd, etcdErr := c.stores.server("etcd", nil)
	proxy, proxyErr := c.proxies.client(proxyUser)
	accounts, accountsErr := newKey()
	if err := errors.Join(serverErr, etcdErr, proxyErr, accountsErr); err != nil {
		return nil, err
	}
	accountsKey, err := encodeKey(accounts)
	if err != nil {
		return nil, err
	}
	return c, errors.Join(
		c.write("server", server), c.write("etcd", etcd), c.write(proxyUser, proxy),
		os.WriteFile(c.path("service-accounts.key"), accountsKey, 0o600),
		os.WriteFile(c.path("tokens.csv"), fmt.Appendf(nil, "%s,admin,admin,%q\n", c.token, administrators), 0o600),
	)
}

func (c *credentials) write(name string, pair keyPair) error {
	return errors.Join(
		os.WriteFile(c.path(name+".crt"), pair.certificate, 0o600),
		os.WriteFile(c.path(name+".key"), pair.key, 0o600),
	)
}

// writeClients writes a kubeconfig for each program that is a client.
func (c *credentials) writeClients(url string) error {
	for name, client := range clientUsers {
		pair, err := c.clients.client(client.user, client.groups...)
		if err != nil {
			return err
		}
		user := &clientcmdapi.AuthInfo{ClientCertificateData: pair.certificate, ClientKeyData: pair.key}
		if err := c.writeKubeconfig(c.path(string(name)+".kubeconfig"), url, user); err != nil {
			return err
		}
	}
	return nil
}

// writeKubeconfig writes a kubeconfig that needs no other file beside it, so that
// it can be copied.
func (c *credentials) writeKubeconfig(path, url string, user *clientcmdapi.AuthInfo) error {
	config := clientcmdapi.NewConfig()
	config.Clusters[contextName] = &clientcmdapi.Cluster{Server: url, CertificateAuthorityData: c.clients.certificate}
	config.AuthInfos[contextName] = user
	config.Contexts[contextName] = &clientcmdapi.Context{Cluster: contextName, AuthInfo: contextName, Namespace: "default"}
	config.CurrentContext = contextName
	content, err := clientcmd.Write(*config)
	if err != nil {
		return fmt.Errorf("encode kubeconfig: %w", err)
	}
	return os.WriteFile(path, content, 0o600)
}
