/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package apiserver_test

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"inferencecache.io/inference-cache/pkg/apiserver"
	"inferencecache.io/inference-cache/pkg/apiserver/options"
	"inferencecache.io/inference-cache/pkg/apiserver/standalone"
)

// cluster is as much of a kube-apiserver as an aggregated server asks for: it
// knows the tokens "jane" and "admin" and those of engines, lets jane read and write
// CacheBackends and make RouteLookups in default, and admin do everything, and has the
// namespaces default and other and no admission
// objects. The server itself may do what was not refused to it.
type cluster struct {
	caPEM   string
	asked   requests
	refused refusals
	quotas  quotas
	engines engines
	objects objects
}

func (c *cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	info, err := requestInfo.NewRequestInfo(r)
	if err != nil {
		answer(w, http.StatusBadRequest, nil)
		return
	}
	c.asked.add(info)
	switch {
	case c.refused.has(info.Verb, info.Resource, info.Subresource):
		fail(w, http.StatusForbidden, metav1.StatusReasonForbidden)
	case r.URL.Query().Get("watch") != "" && r.URL.Query().Get("sendInitialEvents") != "":
		// Clients then list and watch.
		fail(w, http.StatusUnprocessableEntity, metav1.StatusReasonInvalid)
	case c.objects.serves(info):
		c.objects.serve(w, r, info)
	case info.Resource == "resourcequotas":
		c.quotas.serve(w, r, info)
	case info.Resource == "pods":
		c.engines.servePod(w, info)
	case r.URL.Query().Get("watch") != "":
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusOK)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	case strings.HasSuffix(r.URL.Path, "/tokenreviews"):
		c.reviewToken(w, r)
	case strings.HasSuffix(r.URL.Path, "/subjectaccessreviews"):
		c.reviewAccess(w, r)
	case strings.HasSuffix(r.URL.Path, "/selfsubjectaccessreviews"):
		c.refused.review(w, r)
	case strings.HasSuffix(r.URL.Path, "/configmaps"):
		c.list(w, "v1", "ConfigMapList", c.authenticationConfig())
	case strings.HasSuffix(r.URL.Path, "/configmaps/extension-apiserver-authentication"):
		answer(w, http.StatusOK, c.authenticationConfig())
	case r.URL.Path == "/api/v1/namespaces":
		c.list(w, "v1", "NamespaceList", namespace("default"), namespace("other"))
	case strings.HasPrefix(r.URL.Path, "/api/v1/namespaces/"):
		fail(w, http.StatusNotFound, metav1.StatusReasonNotFound)
	default:
		c.list(w, strings.TrimPrefix(path.Dir(r.URL.Path), "/apis/"), listKinds[path.Base(r.URL.Path)])
	}
}

// listKinds are the objects that admission and fairness watch.
var listKinds = map[string]string{
	"mutatingadmissionpolicies":         "MutatingAdmissionPolicyList",
	"mutatingadmissionpolicybindings":   "MutatingAdmissionPolicyBindingList",
	"validatingadmissionpolicies":       "ValidatingAdmissionPolicyList",
	"validatingadmissionpolicybindings": "ValidatingAdmissionPolicyBindingList",
	"mutatingwebhookconfigurations":     "MutatingWebhookConfigurationList",
	"validatingwebhookconfigurations":   "ValidatingWebhookConfigurationList",
	"flowschemas":                       "FlowSchemaList",
	"prioritylevelconfigurations":       "PriorityLevelConfigurationList",
}

func answer(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	// A client that has gone needs no answer.
	_ = json.NewEncoder(w).Encode(body)
}

func fail(w http.ResponseWriter, code int, reason metav1.StatusReason) {
	answer(w, code, metav1.Status{
		TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: "Failure", Reason: reason, Message: string(reason), Code: int32(code),
	})
}

func namespace(name string) any {
	return map[string]any{"metadata": map[string]any{"name": name}, "status": map[string]any{"phase": "Active"}}
}

func (c *cluster) list(w http.ResponseWriter, version, kind string, items ...any) {
	if items == nil {
		items = []any{}
	}
	answer(w, http.StatusOK, map[string]any{"apiVersion": version, "kind": kind, "metadata": map[string]any{"resourceVersion": "1"}, "items": items})
}

func (c *cluster) authenticationConfig() any {
	return map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": "extension-apiserver-authentication", "namespace": "kube-system", "resourceVersion": "1"},
		"data": map[string]any{
			"client-ca-file":                     c.caPEM,
			"requestheader-client-ca-file":       c.caPEM,
			"requestheader-allowed-names":        `["front-proxy-client"]`,
			"requestheader-username-headers":     `["X-Remote-User"]`,
			"requestheader-uid-headers":          `["X-Remote-Uid"]`,
			"requestheader-group-headers":        `["X-Remote-Group"]`,
			"requestheader-extra-headers-prefix": `["X-Remote-Extra-"]`,
		},
	}
}

func (c *cluster) reviewToken(w http.ResponseWriter, r *http.Request) {
	var review authenticationv1.TokenReview
	if !decode(w, r, &review) {
		return
	}
	if token := review.Spec.Token; (token == "jane" || token == "admin") && len(review.Spec.Audiences) == 0 {
		review.Status = authenticationv1.TokenReviewStatus{Authenticated: true, User: authenticationv1.UserInfo{Username: token}}
	}
	if c.engines.review(w, &review) {
		answer(w, http.StatusCreated, review)
	}
}

func (c *cluster) reviewAccess(w http.ResponseWriter, r *http.Request) {
	var review authorizationv1.SubjectAccessReview
	if err := json.NewDecoder(r.Body).Decode(&review); err != nil {
		answer(w, http.StatusBadRequest, nil)
		return
	}
	resource := review.Spec.ResourceAttributes
	review.Status.Allowed = review.Spec.User == "admin" ||
		review.Spec.User == "jane" && resource != nil && resource.Resource == "cachebackends" && resource.Subresource == "" ||
		review.Spec.User == "jane" && resource != nil && resource.Resource == "routelookups" && resource.Namespace == "default"
	answer(w, http.StatusCreated, review)
}

// startInCluster runs a server that is not standalone and returns its address.
func startInCluster(t *testing.T, kube *cluster) string {
	t.Helper()
	o := inCluster(t, kube)
	run(t, o)
	return o.Recommended.SecureServing.Listener.Addr().String()
}

// inCluster returns the options of a server of the cluster.
func inCluster(t *testing.T, kube *cluster) *options.Options {
	t.Helper()
	server := httptest.NewTLSServer(kube)
	t.Cleanup(server.CloseClientConnections)
	kube.caPEM = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	dir := t.TempDir()
	kubeconfig := filepath.Join(dir, "kube.conf")
	config := clientcmdapi.NewConfig()
	config.Clusters["c"] = &clientcmdapi.Cluster{Server: server.URL, CertificateAuthorityData: []byte(kube.caPEM)}
	config.Contexts["c"] = &clientcmdapi.Context{Cluster: "c"}
	config.CurrentContext = "c"
	if err := clientcmd.WriteToFile(*config, kubeconfig); err != nil {
		t.Fatal(err)
	}
	if _, err := standalone.LoadOrCreate(dir, time.Now()); err != nil {
		t.Fatal(err)
	}

	o := options.New()
	o.DataDir = filepath.Join(dir, "data")
	o.UnsafeNoFsync = true
	o.GRPCBindAddress = "127.0.0.1:0"
	r := o.Recommended
	r.CoreAPI.CoreAPIKubeconfigPath = kubeconfig
	r.Authentication.RemoteKubeConfigFile, r.Authorization.RemoteKubeConfigFile = kubeconfig, kubeconfig
	r.SecureServing.Listener = listen(t)
	r.SecureServing.ServerCert.CertKey.CertFile = filepath.Join(dir, "pki", "tls.crt")
	r.SecureServing.ServerCert.CertKey.KeyFile = filepath.Join(dir, "pki", "tls.key")
	if err := o.Complete(); err != nil {
		t.Fatal(err)
	}
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	return o
}

// run runs a server to the end of the test and returns when it is ready.
func run(t *testing.T, o *options.Options) {
	t.Helper()
	config, err := o.Config(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ready, done := start(t.Context(), t, config)
	select {
	case <-ready:
	case err := <-done:
		done <- err
		t.Fatalf("server ended before it was ready: %v", err)
	case <-time.After(2 * time.Minute):
		t.Fatal("server is not ready")
	}
}

// start runs a server to the end of the test. The first channel is closed when it
// is ready; the second has the error when it ends.
func start(ctx context.Context, t *testing.T, config *apiserver.Config) (<-chan struct{}, chan error) {
	t.Helper()
	ready, done := make(chan struct{}), make(chan error, 1)
	config.Extra.OnReady = func() error { close(ready); return nil }
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	go func() { done <- config.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	return ready, done
}

func TestInCluster(t *testing.T) {
	address := startInCluster(t, &cluster{})
	tests := map[string]struct {
		token, method, url, body string
		want                     int
	}{
		"allowed read":            {token: "jane", url: group + "/cachebackends", want: http.StatusOK},
		"forbidden read":          {token: "jane", url: group + "/cachetenants", want: http.StatusForbidden},
		"subresource apart":       {token: "jane", url: group + "/namespaces/default/cachebackends/a/observation", want: http.StatusForbidden},
		"unknown token":           {token: "joe", url: group + "/cachebackends", want: http.StatusUnauthorized},
		"anonymous":               {url: group + "/cachebackends", want: http.StatusForbidden},
		"anonymous on readiness":  {url: "/readyz", want: http.StatusOK},
		"write":                   {token: "jane", method: http.MethodPost, url: group + "/namespaces/default/cachebackends", body: manifest("a"), want: http.StatusCreated},
		"write to no namespace":   {token: "jane", method: http.MethodPost, url: group + "/namespaces/absent/cachebackends", body: manifest("a"), want: http.StatusNotFound},
		"headers without a proxy": {url: group + "/cachebackends", want: http.StatusForbidden},
	}
	c, err := rest.HTTPClientFor(&rest.Config{TLSClientConfig: rest.TLSClientConfig{Insecure: true}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.CloseIdleConnections)
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r, err := http.NewRequestWithContext(t.Context(), tc.method, "https://"+address+tc.url, strings.NewReader(tc.body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", "application/json")
			// Nobody but the front proxy may say who asks.
			r.Header.Set("X-Remote-User", "jane")
			if tc.token != "" {
				r.Header.Set("Authorization", "Bearer "+tc.token)
			}
			response, err := c.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			if err != nil || response.StatusCode != tc.want {
				t.Errorf("status %d, want %d, error %v: %s", response.StatusCode, tc.want, err, body)
			}
		})
	}
}

func manifest(name string) string {
	return fmt.Sprintf(`{"apiVersion":"inferencecache.io/v1alpha1","kind":"CacheBackend","metadata":{"name":%q},"spec":{"runtime":"VLLM"}}`, name)
}

// listen opens a free port, which a server in a cluster does not take by itself.
func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}
