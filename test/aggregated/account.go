/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package aggregated

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/cert"
	"k8s.io/utils/ptr"
)

// Files of an installation.
const (
	kubeconfigFile  = "server.kubeconfig"
	certificateFile = "server.crt"
	keyFile         = "server.key"
)

// tokenLifetime is longer than any test.
const tokenLifetime = 24 * time.Hour

// path names a file of the installation.
func (i *Installation) path(name string) string { return filepath.Join(i.options.Dir, name) }

// ServiceAccountToken asks the cluster for a token of an account, as the kubelet
// does for a Pod; bound to that Pod if one is given.
func (i *Installation) ServiceAccountToken(ctx context.Context, namespace, account string, pod *metav1.ObjectMeta, audiences ...string) (string, error) {
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		Audiences: audiences, ExpirationSeconds: ptr.To(int64(tokenLifetime / time.Second)),
	}}
	if pod != nil {
		request.Spec.BoundObjectRef = &authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: pod.Name, UID: pod.UID}
	}
	answer, err := i.client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, account, request, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("get a token of %s/%s: %w", namespace, account, err)
	}
	return answer.Status.Token, nil
}

// writeKubeconfig gives the servers their account and nothing else.
func (i *Installation) writeKubeconfig(ctx context.Context) error {
	return i.WriteKubeconfig(ctx, i.path(kubeconfigFile), Namespace, Name)
}

// WriteKubeconfig writes a kubeconfig with which a process has an account and nothing
// else.
func (i *Installation) WriteKubeconfig(ctx context.Context, file, namespace, account string) error {
	token, err := i.ServiceAccountToken(ctx, namespace, account, nil)
	if err != nil {
		return err
	}
	admin := i.options.Cluster.Config()
	config := clientcmdapi.NewConfig()
	config.Clusters[account] = &clientcmdapi.Cluster{Server: admin.Host, CertificateAuthorityData: admin.CAData}
	config.AuthInfos[account] = &clientcmdapi.AuthInfo{Token: token}
	config.Contexts[account] = &clientcmdapi.Context{Cluster: account, AuthInfo: account, Namespace: namespace}
	config.CurrentContext = account
	return clientcmd.WriteToFile(*config, file)
}

// makeCertificate makes what an operator would give: a certificate for the names
// of both Services, and its authority.
func (i *Installation) makeCertificate() error {
	chain, key, err := cert.GenerateSelfSignedCertKey(Name+"."+Namespace+".svc", nil, []string{IndexService + "." + Namespace + ".svc", "localhost"})
	if err != nil {
		return err
	}
	i.authority = chain
	if err := os.WriteFile(i.path(certificateFile), chain, 0o600); err != nil {
		return err
	}
	return os.WriteFile(i.path(keyFile), key, 0o600)
}
