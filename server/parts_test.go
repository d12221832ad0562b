package server_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/source"
)

// mainPart is the Config without tokens, which lie in that many parts.
func mainPart(revision int64, parts int) *contract.Config {
	c := config(revision)
	c.Tokens, c.Layout.Parts = nil, parts
	return c
}

// tokenParts are four parts of a revision, with the tokens of these names, whose texts are theirs.
func tokenParts(revision int64, names ...string) []*contract.TokenPart {
	parts := make([]*contract.TokenPart, 4)
	for i := range parts {
		parts[i] = &contract.TokenPart{Version: contract.Version, Revision: revision, Index: i}
	}
	for _, name := range names {
		p := parts[contract.PartOf("shop", name, len(parts))]
		p.Tokens = append(p.Tokens, contract.Token{
			Namespace: "shop", Name: name, UID: name, Hashes: []string{contract.HashToken(textOf(name))},
			Groups: []string{"readers"},
		})
	}
	return parts
}

func textOf(name string) string { return name + "-is-a-text-of-more-than-thirty-two-characters" }

// askAs asks with the token of that name, and returns the status, the answer, and how long to wait.
func (r *running) askAs(name string) (status int, answer, retryAfter string) {
	request, err := http.NewRequest(http.MethodPost, r.endpoint+"/mcp/", strings.NewReader(listBooks))
	if err != nil {
		r.t.Fatal(err)
	}
	if name != "" {
		request.Header.Set("Authorization", "Bearer "+textOf(name))
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return response.StatusCode, string(body), response.Header.Get("Retry-After")
}

func TestTokensInParts(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	missing := contract.PartOf("shop", "a", 4)
	main := mainPart(1, 4)
	main.Groups = []contract.Group{{Name: "readers", Rules: []contract.Rule{{Models: []string{"*"}, Verbs: []string{"view"}}}}}
	parts := tokenParts(1, "a", "b", "c", "d", "e")
	r.apply(source.Update{Config: main, TokenParts: parts, Incomplete: true})
	r.until("connected", func(s contract.Status) bool { return s.Database.Reason == contract.ReasonConnected })
	if s := r.status("", ""); s.Ready {
		t.Error("it is ready before all parts were heard")
	}
	r.apply(source.Update{Config: main, TokenParts: parts})
	r.untilReady()
	if s := r.status("", ""); s.Version != contract.Version || len(s.TokenParts) != 4 || s.TokenParts[missing] != 1 {
		t.Errorf("the status is %+v", s)
	}
	for name, want := range map[string]int{"a": 200, "b": 200, "e": 200, "unknown": 401, "": 401} {
		if status, answer, _ := r.askAs(name); status != want || want == 200 && !strings.Contains(answer, "Solaris") {
			t.Errorf("the token %q: %d %s", name, status, answer)
		}
	}

	// Without a part its tokens are as unknown as any other, and the others are served.
	without := append([]*contract.TokenPart{}, parts...)
	without[missing] = nil
	r.apply(source.Update{Config: main, TokenParts: without})
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		want := 200
		if contract.PartOf("shop", name, 4) == missing {
			want = 503
		}
		if status, _, _ := r.askAs(name); status != want {
			t.Errorf("the token %q, while part %d is missing: %d", name, missing, status)
		}
	}
	status, answer, retryAfter := r.askAs("a")
	status2, answer2, retryAfter2 := r.askAs("unknown")
	if status != 503 || retryAfter == "" || status2 != status || answer2 != answer || retryAfter2 != retryAfter {
		t.Errorf("%d %s %s, and for a token that never was %d %s %s", status, answer, retryAfter, status2, answer2, retryAfter2)
	}
	if status, _, _ := r.askAs(""); status != 401 {
		t.Errorf("without a token: %d", status)
	}
	if s := r.status("", ""); !s.Ready || s.TokenParts[missing] != 0 {
		t.Errorf("the status is %+v", s)
	}

	// A revoked token, and a group that grants nothing any more.
	r.apply(source.Update{Config: main, TokenParts: tokenParts(2, "b", "c")})
	for name, want := range map[string]int{"a": 401, "b": 200} {
		if status, answer, _ := r.askAs(name); status != want {
			t.Errorf("the token %q: %d %s", name, status, answer)
		}
	}
	r.apply(source.Update{Config: mainPart(3, 4), TokenParts: tokenParts(2, "b", "c")})
	if _, answer, _ := r.askAs("b"); !strings.Contains(answer, "permission_denied") {
		t.Errorf("a token without rights: %s", answer)
	}
}

func TestModelThatIsNotUnderstoodIsWithheld(t *testing.T) {
	t.Parallel()
	r := start(t, nil)
	c := config(1)
	c.Models[0].Requires = []string{"what-nobody-understands"}
	r.apply(source.Update{Config: c})
	r.untilReady()
	m := r.status("", "").Models[0]
	if m.Reason != contract.ReasonNotUnderstood || !strings.Contains(m.Message, "what-nobody-understands") || !strings.Contains(m.Message, "older") {
		t.Errorf("the model is %+v", m)
	}
	if _, answer := r.post(listBooks); !strings.Contains(answer, "unavailable") {
		t.Errorf("a call: %s", answer)
	}
}
