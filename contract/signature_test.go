package contract_test

import (
	"crypto/ed25519"
	"errors"
	"maps"
	"testing"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

func TestOnlyTheManagersOwnPartsVerify(t *testing.T) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	stranger, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	place := contract.Place("shop", "shop-mcp-config")
	signed := contract.Part{
		contract.PartKeyRevision: []byte("7"), contract.PartKeyIndex: []byte("0"), contract.PartKeyConfig: []byte("packed"),
	}
	contract.Sign(signed, private, place)
	if err := contract.Verify(signed, public, place); err != nil {
		t.Fatal(err)
	}
	if key, err := contract.ParsePublicKey(contract.FormatPublicKey(public)); err != nil || !key.Equal(public) {
		t.Errorf("the key did not survive its text: %v", err)
	}
	refused := func(name string, part contract.Part, key ed25519.PublicKey, place string) {
		t.Helper()
		if err := contract.Verify(part, key, place); !errors.Is(err, contract.ErrNotSigned) {
			t.Errorf("%s: %v", name, err)
		}
	}
	refused("nothing", contract.Part{}, public, place)
	refused("another key", signed, stranger, place)
	refused("another place", signed, public, contract.Place("crm", "shop-mcp-config"))
	for key := range signed {
		changed := maps.Clone(signed)
		changed[key] = append([]byte("x"), signed[key]...)
		refused("another "+key, changed, public, place)
		delete(changed, key)
		refused("no "+key, changed, public, place)
	}
}
