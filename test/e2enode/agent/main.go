// Command agent is an agent in a pod: it calls an endpoint all the while, and tells on port 8080 what became of the calls
// (GET /counts). It reads its token anew for each call, as the Secret's volume has it.
//
//	agent URL TOKEN_FILE
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/test/e2enode/load"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: agent URL TOKEN_FILE")
		os.Exit(2)
	}
	l := load.Start(os.Args[1], func() string {
		text, _ := os.ReadFile(os.Args[2]) // a call without a token says what is wrong
		return strings.TrimSpace(string(text))
	})
	http.HandleFunc("GET /counts", func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(l.Counts()) })
	server := http.Server{Addr: os.Getenv("POD_IP") + ":8080", ReadHeaderTimeout: 10 * time.Second}
	if err := server.ListenAndServe(); err != nil {
		fmt.Fprintln(os.Stderr, "agent:", err)
		os.Exit(1)
	}
}
