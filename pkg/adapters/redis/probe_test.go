/*
Copyright 2026 The inference-cache Authors.
SPDX-License-Identifier: Apache-2.0
*/

package redis

import (
	"bufio"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"

	"inferencecache.io/inference-cache/pkg/adapters/probe"
	"inferencecache.io/inference-cache/pkg/adapters/probe/probetest"
	"inferencecache.io/inference-cache/test/captures"
)

// password is the one of the recorded server.
const password = "s3cret-fixture"

// recorded returns what a recorded Redis answered, named <file>/<exchange>.
func recorded(t testing.TB, name string) captures.Exchange {
	t.Helper()
	file, name, _ := strings.Cut(name, "/")
	exchanges, err := captures.LoadExchanges("redis/redis-7.0.15-" + file + ".json")
	if err != nil {
		t.Fatal(err)
	}
	for _, exchange := range exchanges {
		if exchange.Name == name {
			return exchange
		}
	}
	t.Fatalf("no exchange %s in %s", name, file)
	return captures.Exchange{}
}

// server is a Redis that stores, and answers some commands as a recorded one did.
type server struct {
	// answers are the recorded exchanges by command, raw ones begin with "raw:".
	answers map[string]string
	// silent are commands that get no answer.
	silent map[string]bool
	lock   sync.Mutex
	// got are the commands in order, with their arguments but the value.
	got []string
}

func (s *server) start(t testing.TB) string {
	t.Helper()
	healthy := map[string]captures.Exchange{
		"AUTH": recorded(t, "auth/auth_right"), "SET": recorded(t, "noauth/set_ex"), "DEL": recorded(t, "noauth/del_two"),
	}
	for command, name := range s.answers {
		if raw, isRaw := strings.CutPrefix(name, "raw:"); isRaw {
			healthy[command] = captures.Exchange{Response: []byte(raw), Closed: true}
		} else {
			healthy[command] = recorded(t, name)
		}
	}
	values := map[string]string{}
	return probetest.Serve(t, func(conn net.Conn) {
		in := bufio.NewReader(conn)
		for {
			parts, err := readCommand(in)
			if err != nil {
				return
			}
			s.lock.Lock()
			s.got = append(s.got, strings.Join(append(parts[:min(2, len(parts)):min(2, len(parts))], parts[min(3, len(parts)):]...), " "))
			if parts[0] == "SET" {
				values[parts[1]] = parts[2]
			}
			value, answer := values[parts[1]], healthy[parts[0]]
			_, given := s.answers[parts[0]]
			s.lock.Unlock()
			switch {
			case s.silent[parts[0]]:
				continue
			case parts[0] == "GET" && !given && value == "":
				_, _ = io.WriteString(conn, "$-1\r\n")
				continue
			case parts[0] == "GET" && !given:
				_, _ = io.WriteString(conn, "$"+strconv.Itoa(len(value))+"\r\n"+value+"\r\n")
				continue
			}
			_, _ = conn.Write(answer.Response)
			if answer.Closed {
				return
			}
		}
	})
}

// readCommand reads a command as a server does.
func readCommand(in *bufio.Reader) ([]string, error) {
	length := func(prefix string) (int, error) {
		line, err := in.ReadString('\n')
		if err != nil {
			return 0, err
		}
		return strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(line, prefix)))
	}
	n, err := length("*")
	if err != nil {
		return nil, err
	}
	parts := make([]string, n)
	for i := range parts {
		size, err := length("$")
		if err != nil {
			return nil, err
		}
		part := make([]byte, size+2)
		if _, err := io.ReadFull(in, part); err != nil {
			return nil, err
		}
		parts[i] = string(part[:size])
	}
	return parts, nil
}

func TestProbe(t *testing.T) {
	tests := map[string]struct {
		answers  map[string]string
		password string
		want     probe.Outcome
		says     string
	}{
		"healthy":                  {want: probe.OK, says: "stored a value"},
		"healthy with password":    {password: password, want: probe.OK, says: "stored a value"},
		"no password given":        {answers: map[string]string{"GET": "auth/get_noauth"}, want: probe.Failed, says: "passwordSecretRef"},
		"wrong password":           {answers: map[string]string{"AUTH": "auth/auth_wrong"}, password: "nope", want: probe.Failed, says: "correct the Secret"},
		"disabled or unknown user": {answers: map[string]string{"AUTH": "auth/auth_user_wrong"}, password: "nope", want: probe.Failed, says: "correct the Secret"},
		"password not asked for": {
			answers: map[string]string{"AUTH": "noauth/auth_without_password_set"}, password: "x", want: probe.Failed, says: "has no password",
		},
		"user may not store":       {answers: map[string]string{"SET": "auth/reader_info_denied"}, want: probe.Failed, says: "let the login store"},
		"user may not touch key":   {answers: map[string]string{"SET": "auth/reader_get_key_denied"}, want: probe.Unknown, says: "says nothing about those of engines"},
		"memory used up":           {answers: map[string]string{"SET": "oom/set_oom"}, want: probe.Failed, says: "allkeys-lru"},
		"value larger than memory": {answers: map[string]string{"SET": "evict/set_bigger_than_maxmemory"}, want: probe.Failed, says: "allkeys-lru"},
		"loading":                  {answers: map[string]string{"GET": "loading/ping_loading"}, want: probe.Failed, says: "loading"},
		"loading with password":    {answers: map[string]string{"SET": "loading/ping_loading"}, password: password, want: probe.Failed, says: "loading"},
		"busy script":              {answers: map[string]string{"SET": "misc/busy_script_ping"}, want: probe.Failed, says: "script"},
		"ending":                   {answers: map[string]string{"SET": "misc/ping_after_shutdown"}, want: probe.Failed, says: "it is ending"},
		"TLS only":                 {answers: map[string]string{"SET": "tls/plain_ping_to_tls_port"}, want: probe.Failed, says: "TLS"},
		"TLS only, with an alert":  {answers: map[string]string{"SET": "raw:\x15\x03\x01\x00\x02\x02\x46"}, want: probe.Failed, says: "TLS"},
		"an HTTP server":           {answers: map[string]string{"SET": "raw:HTTP/1.1 400 Bad Request\r\n\r\n"}, want: probe.Failed, says: "is no Redis"},
		"value gone":               {answers: map[string]string{"GET": "noauth/get_missing"}, want: probe.Failed, says: "no longer has it"},
		"another value":            {answers: map[string]string{"GET": "noauth/get_binary"}, want: probe.Failed, says: "another value"},
		"replica":                  {answers: map[string]string{"SET": "raw:-READONLY You can't write against a read only replica.\r\n"}, want: probe.Failed, says: "replica"},
		"one of a cluster":         {answers: map[string]string{"SET": "raw:-MOVED 3999 127.0.0.1:6381\r\n"}, want: probe.Failed, says: "cluster"},
		"cannot save":              {answers: map[string]string{"SET": "raw:-MISCONF Redis is configured to save RDB snapshots\r\n"}, want: probe.Failed, says: "cannot save"},
		"no connection left":       {answers: map[string]string{"SET": "raw:-ERR max number of clients reached\r\n"}, want: probe.Failed, says: "maxclients"},
		"protected mode":           {answers: map[string]string{"SET": "raw:-DENIED Redis is running in protected mode\r\n"}, want: probe.Failed, says: "protected-mode"},
		"an error nobody knows":    {answers: map[string]string{"SET": "noauth/syntax_error"}, want: probe.Unknown, says: "syntax error"},
		"another kind of reply":    {answers: map[string]string{"SET": "noauth/dbsize"}, want: probe.Unknown, says: "as no Redis does"},
		"ends in mid-reply":        {answers: map[string]string{"GET": "raw:$65536\r\nabc"}, want: probe.Failed, says: "without an answer"},
		"AUTH renamed": {
			answers: map[string]string{"AUTH": "raw:-ERR unknown command 'AUTH', with args beginning with: '" + password + "' \r\n"}, password: password,
			want: probe.Unknown, says: "'***'",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := &server{answers: test.answers}
			got := Probe(t.Context(), target(s.start(t), test.password))
			if got.Outcome != test.want || !strings.Contains(got.Message, test.says) {
				t.Errorf("%s: %s\nwant %s with %q", got.Outcome, got.Message, test.want, test.says)
			}
			if strings.Contains(got.Message, password) {
				t.Errorf("the password is told: %s", got.Message)
			}
		})
	}
}

func target(address, password string) probe.Target {
	return probe.Target{Address: address, Password: password, KeyPrefix: probe.Prefix("models", "cache"), Nonce: "n1"}
}

// TestProbeAsksForWhatItSays holds the commands, and that the key expires.
func TestProbeAsksForWhatItSays(t *testing.T) {
	s := &server{}
	if got := Probe(t.Context(), target(s.start(t), password)); got.Outcome != probe.OK {
		t.Fatalf("%+v", got)
	}
	key := "inferencecache.io/probe/models/cache/n1"
	want := "AUTH " + password + "|GET " + key + "|SET " + key + " EX 60|GET " + key + "|DEL " + key
	if got := strings.Join(s.got, "|"); got != want {
		t.Errorf("asked %s\nwant %s", got, want)
	}
}

func TestProbeOfNobody(t *testing.T) {
	if got := Probe(t.Context(), target(probetest.Nobody(t), "")); got.Outcome != probe.Failed {
		t.Errorf("%+v, want a failure", got)
	}
}

// TestProbeOfAHangingServer holds that a server that accepts and does not answer is
// a failure, once the time of the probe is over.
func TestProbeOfAHangingServer(t *testing.T) {
	s := &server{silent: map[string]bool{"SET": true}}
	if got := Probe(t.Context(), target(s.start(t), "")); got.Outcome != probe.Failed || !strings.Contains(got.Message, "does not answer") {
		t.Errorf("%+v, want a failure", got)
	}
}
