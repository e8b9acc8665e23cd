/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package standalone

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"inferencecache.io/inference-cache/pkg/storage/durablefile"
)

const (
	tokenFile      = "token"
	kubeconfigFile = "kubeconfig"

	// contextName is the name of cluster, user and context in the kubeconfig.
	contextName = "inference-cache-standalone"

	// minTokenBytes and maxTokenBytes bound what is accepted as a token. Ours has
	// 26; a shorter one was cut off, or can be guessed.
	minTokenBytes = 26
	maxTokenBytes = 1024
)

// Credentials is the identity of one data directory. It is immutable.
type Credentials struct {
	dir     string
	token   string
	ca      *keyPair
	serving *keyPair
}

// LoadOrCreate returns the credentials kept in dir, and makes those that are
// missing. dir must exist and be locked by the caller. A file that is there but
// cannot be used is an error that names it.
func LoadOrCreate(dir string, now time.Time) (*Credentials, error) {
	token, err := loadOrMakeToken(filepath.Join(dir, tokenFile))
	if err != nil {
		return nil, err
	}
	ca, serving, err := loadOrMakeCertificates(dir, now)
	if err != nil {
		return nil, err
	}
	return &Credentials{dir: dir, token: token, ca: ca, serving: serving}, nil
}

func loadOrMakeToken(path string) (string, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		// 26 base32 characters, 130 bits.
		token := rand.Text()
		return token, durablefile.Write(path, []byte(token+"\n"), 0o600)
	}
	if err != nil {
		return "", fmt.Errorf("read token: %w", err)
	}
	token := strings.TrimSpace(string(b))
	if len(token) < minTokenBytes || len(token) > maxTokenBytes || strings.ContainsAny(token, " \t\r\n") {
		return "", fmt.Errorf("%s does not hold a token of %d to %d characters; remove it to get a new one", path, minTokenBytes, maxTokenBytes)
	}
	return token, nil
}

// Token returns the bearer token that is allowed everything.
func (c *Credentials) Token() string {
	return c.token
}

// CAPEM returns the certificate authority that clients have to trust.
func (c *Credentials) CAPEM() []byte {
	return append([]byte(nil), c.ca.certPEM...)
}

// CAFile returns the path of the certificate authority.
func (c *Credentials) CAFile() string {
	return filepath.Join(c.dir, caCertFile)
}

// TokenFile returns the path of the token.
func (c *Credentials) TokenFile() string {
	return filepath.Join(c.dir, tokenFile)
}

// KubeconfigFile returns the path that WriteKubeconfig writes to.
func (c *Credentials) KubeconfigFile() string {
	return filepath.Join(c.dir, kubeconfigFile)
}

// ServingCertificate returns the certificate for every port of the server.
func (c *Credentials) ServingCertificate() (dynamiccertificates.CertKeyContentProvider, error) {
	content, err := dynamiccertificates.NewStaticCertKeyContent("standalone serving certificate", c.serving.certPEM, c.serving.keyPEM)
	if err != nil {
		return nil, fmt.Errorf("use serving certificate: %w", err)
	}
	return content, nil
}

// WriteKubeconfig writes a kubeconfig for the server at the given URL. The file
// needs no other file beside it, so it can be copied.
func (c *Credentials) WriteKubeconfig(serverURL string) error {
	config := clientcmdapi.NewConfig()
	config.Clusters[contextName] = &clientcmdapi.Cluster{Server: serverURL, CertificateAuthorityData: c.ca.certPEM}
	config.AuthInfos[contextName] = &clientcmdapi.AuthInfo{Token: c.token}
	config.Contexts[contextName] = &clientcmdapi.Context{Cluster: contextName, AuthInfo: contextName, Namespace: "default"}
	config.CurrentContext = contextName
	b, err := clientcmd.Write(*config)
	if err != nil {
		return fmt.Errorf("encode kubeconfig: %w", err)
	}
	return durablefile.Write(c.KubeconfigFile(), b, 0o600)
}
