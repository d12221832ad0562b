package confirmtext_test

import (
	"fmt"

	"github.com/mcp-admin/mcp-admin-operator/contract/confirmtext"
)

func Example() {
	text, err := confirmtext.Parse("Cancel {{.count}} {{.model}}{{if gt .count 1}}s{{end}}?")
	if err != nil {
		panic(err)
	}
	fmt.Println(text.Render(map[string]any{"count": 3, "model": "order"}))
	fmt.Println(confirmtext.Check("{{range .model}}{{end}}"))
	// Output:
	// Cancel 3 orders? <nil>
	// the text must not use range
}
