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
	// the connection Secret is incomplete: key "uri" names no database; write postgresql://user:password@host:port/database, or set spec.database.name
}

// The manager signs a Config for one place; the server takes it from nowhere else.
func ExampleSign() {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		panic(err)
	}
	parts, err := contract.Encode(&contract.Config{Version: contract.Version, Revision: 7}, 1)
	if err != nil {
		panic(err)
	}
	contract.Sign(parts, private, contract.Place("shop", "shop-config"))
	fmt.Println(contract.Verify(parts, public, contract.Place("shop", "shop-config")))
	fmt.Println(contract.Verify(parts, public, contract.Place("elsewhere", "shop-config")))
	// Output:
	// <nil>
	// the Config does not bear the manager's signature
}
