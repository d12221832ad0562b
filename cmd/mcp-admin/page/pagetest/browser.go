// Package pagetest opens the page in tests, as a browser without scripts does.
package pagetest

import (
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// Browser is a browser that was let in.
type Browser struct {
	t      testing.TB
	client *http.Client
	// Origin is the page's, Root the path below which its screens are.
	Origin, Root string
}

var opened = regexp.MustCompile(`0;url=(/[^"]*?s-[a-z0-9]+/)(\S*)`)

// Open opens the page by its link.
func Open(t testing.TB, link string) *Browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	b := &Browser{t: t, client: &http.Client{Jar: jar}, Origin: u.Scheme + "://" + u.Host}
	answer, err := b.client.Get(link)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	to := opened.FindStringSubmatch(answer.Header.Get("Refresh"))
	if answer.StatusCode != http.StatusOK || to == nil {
		t.Fatalf("the link %s opens nothing: %s %v", link, answer.Status, answer.Header)
	}
	b.Root = to[1]
	return b
}

// Get returns the status and the text of a screen below the root.
func (b *Browser) Get(path string) (int, string) {
	b.t.Helper()
	answer, err := b.client.Get(b.Origin + b.Root + path)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.read(answer)
}

func (b *Browser) read(answer *http.Response) (int, string) {
	b.t.Helper()
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

var hidden = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)">`)

// Submit loads a screen, and sends its form as a browser does.
func (b *Browser) Submit(path string) (int, string) {
	b.t.Helper()
	code, text := b.Get(path)
	if code != http.StatusOK || !strings.Contains(text, `<form method="post">`) {
		b.t.Fatalf("%s has no form to send: %d\n%s", path, code, text)
	}
	values := url.Values{}
	for _, field := range hidden.FindAllStringSubmatch(text, -1) {
		values.Set(field[1], html.UnescapeString(field[2]))
	}
	return b.Send(path, values, map[string]string{"Origin": b.Origin, "Sec-Fetch-Site": "same-origin"})
}

// Send posts values with some headers, and follows to what the page shows then.
func (b *Browser) Send(path string, values url.Values, headers map[string]string) (int, string) {
	b.t.Helper()
	request, err := http.NewRequest(http.MethodPost, b.Origin+b.Root+path, strings.NewReader(values.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	answer, err := b.client.Do(request)
	if err != nil {
		b.t.Fatal(err)
	}
	return b.read(answer)
}
