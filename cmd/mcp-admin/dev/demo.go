package dev

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mcp-admin/mcp-admin-operator/cmd/mcp-admin/page"
)

// demoFiles are the manifests of the demo: a made-up shop on SQLite, with the statements that fill it.
//
//go:embed demo
var demoFiles embed.FS

// writeDemo writes the demo's manifests to a folder. A file that is there already stays, and is an error.
func writeDemo(folder string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	return fs.WalkDir(demoFiles, "demo", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := demoFiles.ReadFile(path)
		if err != nil {
			return err
		}
		file, err := os.OpenFile(filepath.Join(folder, entry.Name()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640) //nolint:gosec // the person names the folder, and its files are no secrets
		if errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("--out: %s is there already; name another folder", filepath.Join(folder, entry.Name()))
		} else if err != nil {
			return fmt.Errorf("--out: %w", err)
		}
		_, err = file.Write(content)
		return errors.Join(err, file.Close())
	})
}

// openDemo has what follows serve the demo, from a folder that goes when it ends.
func (o *options) openDemo() (remove func(), err error) {
	folder, err := os.MkdirTemp("", "mcp-admin-demo-")
	if err != nil {
		return nil, err
	}
	remove = func() { _ = os.RemoveAll(folder) } // what stays is a made-up shop
	manifests := filepath.Join(folder, "yaml")
	if err := writeDemo(manifests); err != nil {
		remove()
		return nil, err
	}
	o.paths, o.state = []string{manifests}, filepath.Join(folder, "state")
	return remove, nil
}

// story says what the demo is, and what to try. The link is the page's.
func (o *options) story(served *outcome, link string) string {
	call := func(token string, words ...string) string {
		return page.CommandLine(append(append([]string{"mcp-admin", "call", token}, words...), "--state", o.state)...)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `A made-up shop with 36 customers and 60 orders is served at %s
until you end this with Ctrl-C. Then all of it is gone.

LOOK: the page shows who can see what, what each token is given, and what happens (the link works once)
  %s

TRY: three tokens, in another terminal
  support   sees the customers and orders of its own region, north, and changes nothing
    %s
  clerk     sees all orders, and changes them by two actions alone: the second line is refused. The page takes the third back (Activity)
    %s
    %s
    %s
  analyst   computes revenue, and runs one report; nobody is shown an e-mail address
    %s
    %s
`, served.config.Endpoint.URL, link,
		call("support", "list_customer"),
		call("clerk", "action_order", "action=ship", "ids=43"), call("clerk", "update_order", "id=43", "data.state=paid"), call("clerk", "update_product", "id=3", "data.price=1.80"),
		call("analyst", "aggregate_line", "--json", `{"measures":["revenue"],"group_by":["product__category"]}`), call("analyst", "report_order", "report=best_months"))
	for _, key := range served.usable() {
		if key.Name == "support" {
			fmt.Fprintf(&b, "\nASK: let an agent call as support, and ask it who ordered tea; another client has its line with -v\n  %s\n", pasted(served.endpoint.Name, served.config.Endpoint.URL, served.texts[key])[0][1])
		}
	}
	b.WriteString("\nKEEP: the YAML, to begin your own with\n  mcp-admin dev --demo --out shop && mcp-admin dev -f shop\n\nCalls, as they come:\n")
	return b.String()
}
