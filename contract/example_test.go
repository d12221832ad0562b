package contract_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"fmt"

	"github.com/mcp-admin/mcp-admin-operator/contract"
)

// A Secret of CloudNativePG describes the database; a Connection prints without its password.
func ExampleResolveConnection() {
	connection, err := contract.ResolveConnection(map[string][]byte{
		"host": []byte("db.shop"), "dbname": []byte("shop"), "username": []byte("admin"), "password": []byte("s3cret"),
	}, "")
	fmt.Println(connection, err)
	_, err = contract.ResolveConnection(map[string][]byte{"uri": []byte("postgresql://admin@db.shop")}, "uri")
	fmt.Println(err)
	// Output:
	// db.shop:5432/shop <nil>
	// the connection Secret is incomplete: key "uri" names no database; write postgresql://user:password@host:port/database, or name it in the endpoint's connection
}

// The manager signs a Config for one place; the server takes it from nowhere else.
func ExampleSign() {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		panic(err)
	}
	part, err := contract.EncodeTokens(&contract.TokenPart{Version: contract.Version, Revision: 7})
	if err != nil {
		panic(err)
	}
	contract.Sign(part, private, contract.Place("shop", "shop-config"))
	fmt.Println(contract.Verify(part, public, contract.Place("shop", "shop-config")))
	fmt.Println(contract.Verify(part, public, contract.Place("elsewhere", "shop-config")))
	// Output:
	// <nil>
	// the Config does not bear the manager's signature
}
