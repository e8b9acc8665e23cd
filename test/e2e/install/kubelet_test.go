//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package install

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"inferencecache.io/inference-cache/test/programs"
)

// syncInterval is how often the stand-in looks at the Pod.
const syncInterval = 100 * time.Millisecond

// kubelet runs the server's program while its Pod is there.
type kubelet struct {
	client kubernetes.Interface
	// dir has the volume of the Pod and the server's log.
	dir, api, grpc string
	starting       programs.Starting
	cancel         context.CancelFunc
	ended          chan struct{}

	mu sync.Mutex
	// process runs for the Pod with that UID. The one that was killed is not
	// started anew for the same Pod.
	process *programs.Process
	pod     types.UID
	failure error
}

// startKubelet runs a stand-in until the test ends.
func startKubelet(t *testing.T) *kubelet {
	t.Helper()
	client, _ := clients(t)
	k := &kubelet{client: client, dir: t.TempDir(), ended: make(chan struct{})}
	for _, address := range []*string{&k.api, &k.grpc} {
		var err error
		if *address, err = programs.FreeAddress(); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	k.cancel = cancel
	go func() {
		defer close(k.ended)
		ticker := time.NewTicker(syncInterval)
		defer ticker.Stop()
		for ctx.Err() == nil {
			k.sync(ctx)
			select {
			case <-ctx.Done():
			case <-ticker.C:
			}
		}
	}()
	t.Cleanup(func() {
		k.cancel()
		<-k.ended
		if t.Failed() {
			t.Log(programs.Tail(k.log()))
		}
		if err := k.kill(); err != nil {
			t.Error(err)
		}
		if k.failure != nil {
			t.Error(k.failure)
		}
	})
	return k
}

func (k *kubelet) log() string { return filepath.Join(k.dir, "server.log") }

// port is that of the API.
func (k *kubelet) port() string {
	_, port, _ := net.SplitHostPort(k.api) // FreeAddress made it
	return port
}

// sync starts or stops the program, as the Pod says.
func (k *kubelet) sync(ctx context.Context) {
	pod, err := k.client.CoreV1().Pods(namespace).Get(ctx, workload+"-0", metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return // asked again
	}
	there := err == nil && pod.DeletionTimestamp == nil && pod.Spec.NodeName != ""
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.process != nil && (!there || pod.UID != k.pod) {
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), programs.Patience)
		defer cancel()
		k.failure = k.process.Terminate(stopping)
		k.process = nil
	}
	if there && pod.UID != k.pod && k.failure == nil {
		k.process, k.failure = k.start(ctx, pod)
		k.pod = pod.UID
	}
}

// kill ends the program as a crash would, if it runs.
func (k *kubelet) kill() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.process == nil {
		return nil
	}
	process := k.process
	k.process = nil
	return process.Kill()
}

// start runs the program with the arguments of the Pod, but for where it listens,
// keeps its data and finds the cluster.
func (k *kubelet) start(ctx context.Context, pod *corev1.Pod) (*programs.Process, error) {
	kubeconfig, err := k.account(ctx, pod)
	if err != nil {
		return nil, fmt.Errorf("give the Pod its account: %w", err)
	}
	known := strings.NewReplacer("$(POD_NAMESPACE)", pod.Namespace, "$(POD_NAME)", pod.Name)
	var args []string
	for _, arg := range pod.Spec.Containers[0].Args {
		args = append(args, known.Replace(arg))
	}
	// The last of two flags counts. Nobody else sends requests while it stops.
	args = append(args,
		"--bind-address=127.0.0.1", "--secure-port="+k.port(), "--grpc-bind-address="+k.grpc, "--shutdown-delay-duration=0s",
		"--data-dir="+filepath.Join(k.dir, string(pod.UID)),
		"--kubeconfig="+kubeconfig, "--authentication-kubeconfig="+kubeconfig, "--authorization-kubeconfig="+kubeconfig)
	return k.starting.Start(programs.Command{Path: environment.program, Args: args, Log: k.log(), Tied: true, Env: []string{"KUBECONFIG="}})
}

// account writes what the Pod has in its volume of the ServiceAccount.
func (k *kubelet) account(ctx context.Context, pod *corev1.Pod) (string, error) {
	answer, err := k.client.CoreV1().ServiceAccounts(pod.Namespace).CreateToken(ctx, pod.Spec.ServiceAccountName, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{
			BoundObjectRef: &authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: pod.Name, UID: pod.UID},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	admin := environment.cluster.Config()
	config := clientcmdapi.NewConfig()
	config.Clusters["cluster"] = &clientcmdapi.Cluster{Server: admin.Host, CertificateAuthorityData: admin.CAData}
	config.AuthInfos["account"] = &clientcmdapi.AuthInfo{Token: answer.Status.Token}
	config.Contexts["pod"] = &clientcmdapi.Context{Cluster: "cluster", AuthInfo: "account", Namespace: pod.Namespace}
	config.CurrentContext = "pod"
	file := filepath.Join(k.dir, string(pod.UID)+".kubeconfig")
	return file, clientcmd.WriteToFile(*config, file)
}
