package report

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestASpecKeepsNamesAndSettingsAlone(t *testing.T) {
	var spec any
	const text = `{"database":{"connectionSecretRef":{"name":"shop-db","keys":{"uri":"HUNTED"}},"schemas":["stock"],"pool":{"maxConnections":5}},
		"server":{"replicas":3,"podTemplate":{"spec":{"containers":[{"env":[{"name":"A","value":"HUNTED"}]}]}},"annotations":{"a":"HUNTED"}},
		"actions":[{"name":"refund","sql":{"statements":["UPDATE x SET y = 'HUNTED'"]},"webhook":{"url":"https://u:HUNTED@host/HUNTED","secretRef":{"name":"hook"}},
		"description":"the password is HUNTED"}],"rowPolicies":[{"name":"own","groups":["clerks"],"filters":[{"field":"region","value":"HUNTED"}]}],
		"observability":{"tracing":{"recordArguments":"Names","recordStatements":"Text"},"audit":{"delivery":"Required"}},"someNewField":"HUNTED","attributes":{"region":"HUNTED"}}`
	if err := json.Unmarshal([]byte(text), &spec); err != nil {
		t.Fatal(err)
	}
	cleaned, err := cleanSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(cleaned)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(out), "HUNTED") {
		t.Errorf("left in: %s", out)
	}
	for _, want := range []string{`"name":"shop-db"`, `"schemas":["stock"]`, `"maxConnections":5`, `"replicas":3`, `"name":"refund"`, `"name":"hook"`, `"groups":["clerks"]`, `"recordArguments":"Names"`, `"recordStatements":"Text"`, `"delivery":"Required"`} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%s is not left in %s", want, out)
		}
	}
}

func TestWhatLooksLikeASecretIsBlottedOut(t *testing.T) {
	for text, want := range map[string]string{
		"dial postgres://shop:H/UN@TED@db:5432/shop: refused":                "dial postgres://(blotted out)db:5432/shop: refused",
		"with mcp_0123456789abcdef.HUNTED it":                                "with (blotted out) it",
		"Authorization: Bearer HUNTEDHUNTED":                                 "Authorization: Bearer (blotted out)",
		`{"password":"HUNTED","user":"shop"}`:                                `{"password":"(blotted out)","user":"shop"}`,
		"host=db password=HUNTED dbname=shop":                                "host=db password=(blotted out) dbname=shop",
		"db_password: HUNTED\nuser: shop":                                    "db_password: (blotted out)\nuser: shop",
		"eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.HUNTED":                        "(blotted out)",
		"a -----BEGIN PRIVATE KEY-----\nHUNTED\n-----END PRIVATE KEY----- b": "a (blotted out) b",
		`password authentication failed for user "shop"`:                     `password authentication failed for user "shop"`,
		"wrong password: FATAL: password authentication failed":              "wrong password: FATAL: password authentication failed",
		"the Secret shop-db has no key uri":                                  "the Secret shop-db has no key uri",
	} {
		if got := string(blot([]byte(text))); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
