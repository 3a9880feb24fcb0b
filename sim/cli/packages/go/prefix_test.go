package forkcast

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// failing is a test that fails without failing this one.
type failing struct {
	testing.TB
	report string
}

func (test *failing) Fatalf(format string, values ...any) { test.report += fmt.Sprintf(format, values...) }

func bodies(moves bool) [][]byte {
	var requests [][]byte
	messages := `{"role":"user","content":"What does the parser do with an empty file?"}`
	for turn := 0; turn < 3; turn++ {
		day := "November"
		if moves {
			day = fmt.Sprintf("10:0%d", turn)
		}
		body := fmt.Sprintf(`{"model":"claude-opus-4-8","cache_control":{"type":"ephemeral"},"system":"The house rules. It is %s.","messages":[%s]}`, day, messages)
		requests = append(requests, []byte(body))
		messages += fmt.Sprintf(`,{"role":"assistant","content":"Done."},{"role":"user","content":"Part %d."}`, turn)
	}
	return requests
}

func TestKeptPrefixesPass(t *testing.T) {
	AssertPrefix(t, bodies(false))
}

func TestAMovingByteIsNamed(t *testing.T) {
	test := &failing{TB: t}
	AssertPrefix(test, bodies(true))
	if !strings.Contains(test.report, "At system[0], first differing byte 27 of the field") {
		t.Fatal(test.report)
	}
}

func TestALockIsWrittenAndHeld(t *testing.T) {
	back, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chdir(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	defer os.Chdir(back)
	t.Setenv("FORKCAST_UPDATE", "1")
	AssertLocked(t, "agent", bodies(false))
	t.Setenv("FORKCAST_UPDATE", "")
	AssertLocked(t, "agent", bodies(false))
	test := &failing{TB: t}
	AssertLocked(test, "agent", [][]byte{bytes.Replace(bodies(false)[0], []byte("house"), []byte("other"), 1)})
	if !strings.Contains(test.report, "rule equality") {
		t.Fatal(test.report)
	}
}

func TestATransportKeepsPrompts(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	sent := &Capture{}
	client := &http.Client{Transport: sent}
	for _, body := range append(bodies(false), []byte("no prompt")) {
		response, err := client.Post(server.URL, "application/json", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
	}
	if len(sent.Requests()) != 3 || !bytes.Equal(sent.Requests()[2], bodies(false)[2]) {
		t.Fatalf("%d requests", len(sent.Requests()))
	}
}
