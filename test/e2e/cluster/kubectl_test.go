//go:build e2e

/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package cluster

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

// TestTranscripts holds that a user of a cluster sees what a user of a server
// without one sees, to the letter.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob(transcripts + "/*.transcript")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	shell := newShell(t)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".transcript")
		t.Run(name, func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			clean(t, shell)
			if name == withEngine {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if err := startEngine(ctx, t); err != nil {
					t.Fatal(err)
				}
			}
			got, err := shell.Replay(t.Context(), string(want))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("%s (-want +got):\n%s", file, diff)
			}
		})
	}
}

// startEngine reports the engine of the transcripts with the token of its Pod. It
// lives until the context ends.
func startEngine(ctx context.Context, t *testing.T) error {
	t.Helper()
	pods := newClients(t).CoreV1().Pods(transcript.EngineNamespace)
	pod, err := pods.Create(ctx, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: transcript.EnginePod},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "engine", Image: "example.com/engine:1"}}},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	i := environment.Installation
	token, err := i.ServiceAccountToken(ctx, pod.Namespace, "default", &pod.ObjectMeta)
	if err != nil {
		return err
	}
	conn, err := i.Dial(ctx, i.Replicas()[0], token)
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, func() { _ = conn.Close() })
	return transcript.ReportEngine(ctx, conn)
}
