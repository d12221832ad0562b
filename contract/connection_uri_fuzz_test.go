package contract

import (
	"strings"
	"testing"
)

// canaries stand where a URI has its pieces; none of them may be told.
var canaries = []string{"canaryuser", "canaryword", "canaryhost", "canarybase", "canarykey", "canaryvalue", "canaryport"}

func FuzzConnectionURIErrorsTellOnlyTheScheme(f *testing.F) {
	for _, scheme := range []string{"postgresql", "mysql", "jdbc:postgresql", "mysql+pymysql", "oracle", "", "canaryscheme-that-is-far-too-long"} {
		for _, rest := range []string{
			"://canaryuser:canaryword@canaryhost:5432/canarybase?canarykey=canaryvalue",
			"://canaryuser:canaryword@canaryhost:canaryport/canarybase",
			"://canaryuser:canaryword@canaryhost/canarybase?sslmode=canaryvalue",
			"://canaryuser:canaryword@canary host\n/canarybase",
			"://canaryuser:canary%word@canaryhost/canarybase",
			"://canaryuser:canaryword@canaryhost,canaryhost2/canarybase",
			"://canaryuser:canaryword@canaryhost:99999/canarybase",
			"://canaryuser:canaryword@canaryhost:1,canaryhost2:2/canarybase",
			"://canaryuser:canaryword@canaryhost:canaryport,canaryhost2/canarybase",
			"://canaryuser:canaryword@canaryhost,/canarybase",
			"://canaryuser:canaryword@canaryhost,canaryhost2/canarybase?port=1,2,canaryport",
			"://canaryuser:canaryword@[canaryhost/canarybase",
			"://canaryuser:canaryword@/canarybase",
			"://canaryhost/canarybase?password=canaryword&port=canaryport&%zzcanarykey",
			":canaryuser:canaryword@canaryhost",
			"canaryuser:canaryword@tcp(canaryhost:canaryport)/canarybase",
			"canaryuser:canaryword@tcp(canaryhost:99999)/%zzcanarybase",
			"://canaryuser:canaryword@canaryhost/canarybase#canaryvalue",
			"://canaryuser:canary word\x00@canaryhost/canarybase",
		} {
			f.Add(scheme + rest)
		}
	}
	f.Add("canaryword://x")
	f.Fuzz(func(t *testing.T, text string) {
		_, err := ResolveConnection(map[string][]byte{"uri": []byte(text)}, "uri")
		if err == nil {
			return
		}
		before, _, _ := strings.Cut(text, "://")
		told := strings.ReplaceAll(err.Error(), before, "")
		for _, canary := range canaries {
			if strings.Contains(told, canary) {
				t.Errorf("%q: the error tells of %q: %v", text, canary, err)
			}
		}
	})
}

// An error shows the text before :// only if it can be a misspelt scheme, and never a password.
func TestWhatIsNoSchemeIsNotTold(t *testing.T) {
	for _, text := range []string{
		"user:canaryword://host/base", "canaryword@host://x/y", "canary word://host/base", "canaryword",
		"jdbc:canaryuser:canaryword://host", strings.Repeat("canaryword", 3) + "://host/base",
	} {
		if _, err := parseConnectionURI(text); err == nil || strings.Contains(err.Error(), "canary") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
