/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package controlplane

import (
	"context"
	"fmt"
	"io"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"inferencecache.io/inference-cache/test/programs"
)

// await tries until it succeeds, but not after a program has ended. Each try has
// the time of one call.
func (c *Cluster) await(ctx context.Context, what string, try func(context.Context) error) error {
	ctx, giveUp := context.WithCancel(ctx)
	defer giveUp()
	err := programs.Poll(ctx, func() error {
		if err := c.ended(); err != nil {
			giveUp()
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, programs.CallTimeout)
		defer cancel()
		return try(ctx)
	})
	if err != nil {
		return fmt.Errorf("wait for %s: %w", what, err)
	}
	return nil
}

// ended is an error if a program has ended, with the last that it said.
func (c *Cluster) ended() error {
	for _, component := range c.running {
		select {
		case <-component.process.Ended():
			return fmt.Errorf("%s has ended\n%s", component.Name, programs.Tail(component.log))
		default:
		}
	}
	return nil
}

// awaitEtcd waits until etcd has a leader, which is itself.
func (c *Cluster) awaitEtcd(ctx context.Context) error {
	pair, err := c.credentials.stores.client("probe")
	if err != nil {
		return err
	}
	return c.awaitOK(ctx, string(etcd), "https://"+c.addresses.etcd+"/health", &rest.Config{
		TLSClientConfig: rest.TLSClientConfig{
			CAData: c.credentials.stores.certificate, CertData: pair.certificate, KeyData: pair.key,
		},
	})
}

// awaitServer waits until a server of Kubernetes calls itself ready. Everybody may
// ask.
func (c *Cluster) awaitServer(ctx context.Context, name program, address string) error {
	return c.awaitOK(ctx, string(name), "https://"+address+"/readyz", c.anonymous())
}

func (c *Cluster) awaitOK(ctx context.Context, what, url string, config *rest.Config) error {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	return c.await(ctx, what, func(ctx context.Context) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err == nil && response.StatusCode != http.StatusOK {
			err = fmt.Errorf("%s: %s\n%s", url, response.Status, body)
		}
		return err
	})
}

// addNodes registers the nodes and waits until Pods can run on them: kwok has made
// them ready, and the controller manager has seen that and made the account that
// every Pod of the default namespace has.
func (c *Cluster) addNodes(ctx context.Context) error {
	client, err := kubernetes.NewForConfig(c.Config())
	if err != nil {
		return err
	}
	for i := range c.options.Nodes {
		name := fmt.Sprintf("node-%d", i)
		err := c.await(ctx, "the creation of "+name, func(ctx context.Context) error {
			_, err := client.CoreV1().Nodes().Create(ctx, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
				corev1.LabelHostname: name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64",
			}}}, metav1.CreateOptions{})
			if apierrors.IsAlreadyExists(err) {
				return nil // an answer was lost
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return c.await(ctx, "nodes and accounts", func(ctx context.Context) error {
		nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for i := range nodes.Items {
			if node := &nodes.Items[i]; !schedulable(node) {
				return fmt.Errorf("%s is not ready: conditions %v, taints %v", node.Name, node.Status.Conditions, node.Spec.Taints)
			}
		}
		_, err = client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
		return err
	})
}

// schedulable tells nodes that Pods can be bound to. The taint of a new node goes
// only after the controller manager has seen that it is ready.
func schedulable(node *corev1.Node) bool {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue && len(node.Spec.Taints) == 0
		}
	}
	return false
}
