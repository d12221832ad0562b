package call

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/server/access"
	"github.com/mcp-admin/mcp-admin-operator/server/seal"
)

func init() { // what packages above declare
	for _, name := range []string{"list", "report"} {
		Operations = append(Operations, &Operation{Operation: contract.FindOperation(name)})
	}
}

func linkOf(arguments string) *ExportLink {
	at := time.Unix(1_800_000_000, 0).UTC()
	return &ExportLink{ID: "ABC", Token: "shop/agent", Credential: access.Credential{Claims: map[string]any{"sub": "ann", "exp": 1.8e9}},
		Operation: "list", Model: "book", Format: ExportCSV, Arguments: json.RawMessage(arguments), Asked: at, Expires: at.Add(ExportLife)}
}

func settingsOf(endpoint string, key byte) *Settings {
	return &Settings{Endpoint: endpoint, SealKey: bytes.Repeat([]byte{key}, 32)}
}

func TestALinkOpensForItsOwnEndpointAndPurposeOnly(t *testing.T) {
	settings, link := settingsOf("shop/one", 7), linkOf(`{"filters":{"title":"żółw"}}`)
	text, err := SealExport(settings, link)
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := OpenExport(settings, text); !ok || !reflect.DeepEqual(got, link) {
		t.Errorf("got %+v, %v\nwant %+v", got, ok, link)
	}
	for name, other := range map[string]*Settings{"another endpoint": settingsOf("shop/two", 7), "another key": settingsOf("shop/one", 8)} {
		if got, ok := OpenExport(other, text); ok {
			t.Errorf("%s opens it: %+v", name, got)
		}
	}
	plain, _ := json.Marshal(link)
	cursor := seal.New(settings.SealKey, "cursor").Seal(plain, []byte(settings.Endpoint))
	if got, ok := OpenExport(settings, cursor); ok {
		t.Errorf("what was sealed as a cursor opens: %+v", got)
	}
}

func TestALinkHasNothingInTheClear(t *testing.T) {
	text, err := SealExport(settingsOf("shop/one", 7), linkOf(`{"filters":{"title":"secret"}}`))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"secret", "agent", "ann"} {
		if bytes.Contains(raw, []byte(word)) || strings.Contains(text, word) {
			t.Errorf("%s can be read in %q", word, text)
		}
	}
}

func TestALinkIsUsedOnce(t *testing.T) {
	var links UsedLinks
	now := time.Unix(1_800_000_000, 0)
	of := func(token, id string, expires time.Time) *ExportLink {
		return &ExportLink{Token: token, ID: id, Expires: expires}
	}
	for _, c := range []struct {
		id   string
		want bool
	}{{"a", true}, {"a", false}, {"b", true}, {"a", false}} {
		if got := links.Use(of("shop/agent", c.id, now.Add(ExportLife)), now); got != c.want {
			t.Errorf("Use(%s) = %v, want %v", c.id, got, c.want)
		}
	}
	for i := range maxLinks {
		links.Use(of("shop/agent", fmt.Sprint("many ", i), now.Add(ExportLife)), now)
	}
	if links.Use(of("shop/agent", "one too many", now.Add(ExportLife)), now) {
		t.Error("a link can be used though no more of its token can be remembered")
	}
	if !links.Use(of("shop/other", "one", now.Add(ExportLife)), now) {
		t.Error("the many links of one token use up those of another")
	}
	later := now.Add(ExportLife)
	if !links.Use(of("shop/agent", "one too many", later.Add(ExportLife)), later) {
		t.Error("no link can be used once those from before have expired")
	}
	links.Use(of("shop/third", "one", later.Add(ExportLife)), later)
	if got := len(links.used); got != 2 {
		t.Errorf("%d tokens are remembered, want the two with links that are still valid", got)
	}
}

// FuzzOpenExport opens any text, and reads anything that could be packed in one.
func FuzzOpenExport(f *testing.F) {
	settings := settingsOf("shop/one", 7)
	text, err := SealExport(settings, linkOf(`{}`))
	if err != nil {
		f.Fatal(err)
	}
	packed, _ := seal.New(settings.SealKey, exportPurpose).Open(text, []byte(settings.Endpoint))
	f.Add(text, packed)
	f.Add("", []byte{})
	f.Add(text[1:], packed[1:])
	f.Add(strings.Repeat("A", maxExportURL+1), bytes.Repeat([]byte{0}, 100))
	f.Fuzz(func(t *testing.T, other string, data []byte) {
		if link, ok := OpenExport(settings, other); ok && link.ID != "ABC" {
			t.Errorf("%q opens as %+v", other, link)
		}
		link, ok := parseExport(data)
		if !ok {
			return
		}
		again, err := SealExport(settings, link)
		if err != nil {
			t.Fatalf("%+v cannot be sealed again: %v", link, err)
		}
		if got, ok := OpenExport(settings, again); !ok || got.ID != link.ID || !got.Expires.Equal(link.Expires) || got.Model != link.Model {
			t.Errorf("%+v comes back as %+v, %v", link, got, ok)
		}
	})
}
