package rotation_test

import (
	"crypto/ed25519"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/mcp-admin/mcp-admin-operator/api/v1alpha1"
	"github.com/mcp-admin/mcp-admin-operator/contract"
	"github.com/mcp-admin/mcp-admin-operator/controllers/token/rotation"
)

func TestOnlyWhatTheManagerWroteIsItsOwn(t *testing.T) {
	_, private, _ := ed25519.GenerateKey(nil)
	_, other, _ := ed25519.GenerateKey(nil)
	key, agent := rotation.NewKey(private), types.NamespacedName{Namespace: "shop", Name: "agent"}
	now := time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC)
	state := rotation.State{Hash: "a", Next: "b", Previous: "c", PreviousUntil: now.Add(time.Hour), IssuedAt: now, RotatedFor: "1"}
	written := state.Annotations(key, agent)
	if read := rotation.ReadState(written); !reflect.DeepEqual(read, state) {
		t.Errorf("read back: %+v", read)
	}
	if !key.Wrote(written, agent) {
		t.Error("the manager does not know its own annotations")
	}
	if rotation.NewKey(other).Wrote(written, agent) {
		t.Error("another manager takes them")
	}
	for _, of := range []types.NamespacedName{{Namespace: "shop", Name: "other"}, {Namespace: "other", Name: "agent"}, {Namespace: "shopa", Name: "gent"}} {
		if key.Wrote(written, of) {
			t.Errorf("they pass for those of %s", of)
		}
	}
	for name := range written {
		forged := maps.Clone(written)
		forged[name] += "0"
		if key.Wrote(forged, agent) {
			t.Errorf("%s can be changed", name)
		}
		delete(forged, name)
		if key.Wrote(forged, agent) {
			t.Errorf("%s can be taken away", name)
		}
	}
	if key.Wrote(nil, agent) {
		t.Error("nothing at all passes")
	}
}

func TestHashesOfAMoment(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, row := range map[string]struct {
		state rotation.State
		want  []string
	}{
		"nothing":            {rotation.State{}, nil},
		"in use":             {rotation.State{Hash: "a"}, []string{"a"}},
		"about to rotate":    {rotation.State{Hash: "b", Next: "a"}, []string{"a", "b"}},
		"within the overlap": {rotation.State{Hash: "b", Previous: "a", PreviousUntil: now.Add(1)}, []string{"a", "b"}},
		"after the overlap":  {rotation.State{Hash: "b", Previous: "a", PreviousUntil: now}, []string{"b"}},
	} {
		if got := row.state.Hashes(now); !slices.Equal(got, row.want) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestATextIsFoundWhateverItsKeyIsCalled(t *testing.T) {
	text := contract.NewToken()
	keys := []v1alpha1.TokenSecretKey{
		{Key: "TOKEN", Format: v1alpha1.FormatToken}, {Key: "address", Format: v1alpha1.FormatURL}, {Key: ".env", Format: v1alpha1.FormatDotEnv},
		{Key: "mcp.json", Format: v1alpha1.FormatMCPServers}, {Key: "code.json", Format: v1alpha1.FormatVSCode},
		{Key: "config.toml", Format: v1alpha1.FormatCodex}, {Key: "settings.json", Format: v1alpha1.FormatGeminiCLI},
	}
	content := rotation.Content(keys, "shop", "https://mcp.example/mcp/", text)
	if len(content) != len(keys) || string(content["TOKEN"]) != text || string(content["address"]) != "https://mcp.example/mcp/" {
		t.Errorf("%s", content)
	}
	if got := rotation.Find(content, contract.HashToken(text)); got != text {
		t.Errorf("found %q", got)
	}
	if got := rotation.FindByFingerprint(content, rotation.Fingerprint(contract.HashToken(text))); got != text {
		t.Errorf("found by its fingerprint: %q", got)
	}
	if got := rotation.FindByFingerprint(content, rotation.Fingerprint(contract.HashToken(contract.NewToken()))); got != "" {
		t.Errorf("found by the fingerprint of another: %q", got)
	}
	content["TOKEN"] = []byte("weak")
	if got := rotation.Find(content, contract.HashToken("weak")); got != "" {
		t.Errorf("a weak text was found: %q", got)
	}
}
