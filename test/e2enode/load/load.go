// Package load calls an endpoint all the while, as agents do: over connections that are kept and over new ones, reading and
// writing.
package load

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Counts has the outcomes of the calls since the start.
type Counts struct {
	// Sent are all calls that have ended. Written are the calls that made a row, by the endpoint's word.
	Sent, Written int
	// Unavailable are the calls whose answer was that the database cannot be reached. Refused are calls with another
	// answer that was not right, and Lost calls without an answer.
	Unavailable, Refused, Lost int
	// Problem is the last one that was refused or lost.
	Problem string
	// Token is the fingerprint of the token that was shown last.
	Token string
}

// Since returns what was added after earlier counts.
func (c Counts) Since(earlier Counts) Counts {
	c.Sent -= earlier.Sent
	c.Written -= earlier.Written
	c.Unavailable -= earlier.Unavailable
	c.Refused -= earlier.Refused
	c.Lost -= earlier.Lost
	if c.Refused+c.Lost == 0 {
		c.Problem = ""
	}
	return c
}

// Load is a number of agents that share a token.
type Load struct {
	url   string
	token func() string

	mu     sync.Mutex
	counts Counts
}

// pace is the pause between two calls of one agent.
const pace = 50 * time.Millisecond

// Start starts three agents that read and one that writes. They never end.
func Start(url string, token func() string) *Load {
	l := &Load{url: url, token: token}
	for _, agent := range []struct{ keep, writes bool }{{true, false}, {false, false}, {false, false}, {true, true}} {
		go l.call(agent.keep, agent.writes)
	}
	return l
}

// Counts returns the counts up to now.
func (l *Load) Counts() Counts {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.counts
}

func (l *Load) call(keep, writes bool) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: !keep}, Timeout: time.Minute}
	for ; ; time.Sleep(pace) {
		began, token := time.Now(), l.token()
		answer, err := Ask(client, l.url, token, writes)
		l.note(writes, token, answer, err, time.Since(began))
	}
}

func (l *Load) note(writes bool, token, answer string, err error, took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counts.Sent++
	l.counts.Token = Fingerprint(token)
	switch {
	case err == nil && writes:
		l.counts.Written++
	case err == nil:
	case strings.Contains(answer, `"code":"unavailable"`):
		l.counts.Unavailable++
	default:
		if answer == "" {
			l.counts.Lost++
		} else {
			l.counts.Refused++
		}
		l.counts.Problem = fmt.Sprintf("%s, after %d ms: %v", time.Now().UTC().Format(time.TimeOnly), took.Milliseconds(), err)
	}
}

// Fingerprint tells tokens apart without telling them.
func Fingerprint(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:4])
}

// Ask lists items, or makes one, and returns the answer, "" if there is none. An error says why it is not the right one.
func Ask(client *http.Client, url, token string, writes bool) (string, error) {
	body, right := `{"method":"tools/call","name":"list_item","arguments":{"limit":1}}`, `"results":[{`
	if writes {
		body, right = `{"method":"tools/call","name":"create_item","arguments":{"data":{"name":"lamp"}}}`, `"success":true`
	}
	request, err := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	request.GetBody = nil // else the client would try again by itself, and hide what is lost
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return "", err
	}
	var answer struct{ Content []struct{ Text string } }
	if response.StatusCode != http.StatusOK || json.Unmarshal(content, &answer) != nil || len(answer.Content) != 1 {
		return response.Status, fmt.Errorf("%s: %.300s", response.Status, content)
	}
	if text := answer.Content[0].Text; !strings.Contains(text, right) {
		return text, fmt.Errorf("%.300s", text)
	}
	return answer.Content[0].Text, nil
}
