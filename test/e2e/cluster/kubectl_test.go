//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cluster

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"inferencecache.io/inference-cache/pkg/apis/inferencecache/v1alpha1"
	"inferencecache.io/inference-cache/test/transcript"
)

// transcripts are those of a server without a cluster, to which they belong.
const transcripts = "../../integration/kubectl/testdata"

// withEngine is the transcript of a server that an engine reports to.
const withEngine = "engine"

func newShell(t *testing.T) transcript.Shell {
	t.Helper()
	return transcript.Shell{
		Dir: transcripts, Kubectl: environment.Kubectl, Kubeconfig: environment.Cluster.Kubeconfig(), Home: t.TempDir(),
	}
}

// clean removes what a transcript may have left in its namespace.
func clean(t *testing.T, s transcript.Shell) {
	t.Helper()
	if _, err := s.Run(t.Context(), "kubectl delete cb,cpol,ct --all"); err != nil {
		t.Fatal(err)
	}
}

// replay compares a transcript with what a user sees now.
func replay(t *testing.T, shell transcript.Shell, file string) {
	t.Helper()
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got, err := shell.Replay(t.Context(), string(want))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// TestTranscripts holds that a user of a cluster sees what a user of a server
// without one sees, to the letter. They all work in one namespace, and nobody else
// may report an engine meanwhile, which would be seen.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob(transcripts + "/*.transcript")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	shell := newShell(t)
	for _, file := range files {
		if name := strings.TrimSuffix(filepath.Base(file), ".transcript"); name != withEngine {
			t.Run(name, func(t *testing.T) {
				clean(t, shell)
				replay(t, shell, file)
			})
		}
	}
	t.Run("watch", func(t *testing.T) {
		clean(t, shell)
		if err := transcript.WatchBackends(t.Context(), shell); err != nil {
			t.Fatal(err)
		}
	})
}

// TestEngine watches the live index while an engine comes, and then replays what a
// user sees of it.
func TestEngine(t *testing.T) {
	shell := newShell(t)
	clean(t, shell)
	if err := transcript.WatchIndex(t.Context(), shell, func(context.Context) error { return startEngine(t) }); err != nil {
		t.Fatal(err)
	}
	replay(t, shell, filepath.Join(transcripts, withEngine+".transcript"))
}

// startEngine reports the engine of the transcripts with the token of its Pod, which
// has what the webhook for Pods writes. The backend has to be there. The
// engine lives until the test ends; then the server starts anew and knows nothing of
// it.
func startEngine(t *testing.T) error {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	clients := newClients(t)
	backend, err := clients.ours.InferencecacheV1alpha1().CacheBackends(transcript.EngineNamespace).Get(ctx, transcript.EngineBackend, getOptions)
	if err != nil {
		cancel()
		return err
	}
	pods := clients.CoreV1().Pods(transcript.EngineNamespace)
	pod, err := pods.Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: transcript.EnginePod, Annotations: map[string]string{
			v1alpha1.AnnotationInjectedBy:    backend.Namespace + "/" + backend.Name,
			v1alpha1.AnnotationInjectedByUID: string(backend.UID),
		}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "engine", Image: "example.com/engine:1"}}},
	}, createOptions)
	if err != nil {
		cancel()
		return err
	}
	i := environment.Installation
	server := i.Replicas()[0]
	t.Cleanup(func() {
		cancel()
		ctx := context.WithoutCancel(ctx)
		if err := errors.Join(
			pods.Delete(ctx, pod.Name, metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)}),
			server.Stop(ctx), server.Start(ctx), i.Await(ctx),
		); err != nil {
			t.Fatal(err)
		}
	})
	token, err := i.ServiceAccountToken(ctx, pod.Namespace, "default", &pod.ObjectMeta)
	if err != nil {
		return err
	}
	conn, err := i.Dial(ctx, server, token)
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, func() { _ = conn.Close() })
	return transcript.ReportEngine(ctx, conn)
}
