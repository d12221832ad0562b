package sqlscan_test

import (
	"fmt"

	"github.com/mcp-admin/mcp-admin-operator/contract/sqlscan"
)

func ExampleScan() {
	pieces, err := sqlscan.Scan("UPDATE book SET price = :price WHERE id IN (:ids)", []string{"price"})
	for _, piece := range pieces {
		fmt.Printf("%q %q\n", piece.SQL, piece.Parameter)
	}
	fmt.Println(err)
	_, err = sqlscan.Scan("DROP TABLE book", nil)
	fmt.Println(err)
	// Output:
	// "UPDATE book SET price = " ""
	// "" "price"
	// " WHERE id IN (" ""
	// "" "ids"
	// ")" ""
	// <nil>
	// begins with DROP; it must be one UPDATE, DELETE or INSERT … SELECT; a WITH may stand before it
}
