// Program write writes the files of the images' root into a folder, for the Dockerfile: write FOLDER.
package main

import (
	"fmt"
	"os"

	"github.com/mcp-admin/mcp-admin-operator/hack/rootfs"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "write: name the folder, and nothing else")
		os.Exit(2)
	}
	if err := rootfs.Write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "write:", err)
		os.Exit(1)
	}
}
