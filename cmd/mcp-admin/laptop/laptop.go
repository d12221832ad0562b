// Package laptop tells other commands what "mcp-admin dev" serves: in a file in its state folder, from which call, connect
// and doctor work without a cluster. Only commands import it.
package laptop

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/mcp-admin/mcp-admin-operator/contract/spelling"
)

const (
	// Folder is the state folder of dev if its flag names no other.
	Folder = ".mcp-admin-dev"
	// File is the file in that folder. It is there while dev runs, and only its owner may read it: it holds tokens.
	File = "served.json"
)

// Served describes what dev serves.
type Served struct {
	// Endpoint is the MCPEndpoint's namespace and name; URL is where it is served.
	Endpoint string    `json:"endpoint"`
	URL      string    `json:"url"`
	Tokens   []Token   `json:"tokens"`
	Problems []Problem `json:"problems,omitempty"`
}

// Token is an MCPToken.
type Token struct {
	// Name is its namespace and name.
	Name string `json:"name"`
	// Text is the text that its holder shows; "" if it is not known. File holds it if dev has made it.
	Text string `json:"text,omitempty"`
	File string `json:"file,omitempty"`
	// Refused says why it does not work; "" if it does.
	Refused string `json:"refused,omitempty"`
}

// Problem is one thing that is wrong.
type Problem struct {
	Object  string `json:"object"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message"`
}

// Flag is the flag that names the state folder; "" is a cluster.
type Flag struct{ Folder string }

// AddTo gives a command the flag.
func (f *Flag) AddTo(flags *pflag.FlagSet) {
	flags.StringVar(&f.Folder, "state", "", "state `DIR` of a running \"mcp-admin dev\" (usually "+Folder+"), in the place of a cluster")
}

// Read returns what dev serves.
func (f *Flag) Read() (*Served, error) {
	content, err := os.ReadFile(filepath.Join(f.Folder, File))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("--state: no \"mcp-admin dev\" serves anything from %s; start it, or name the folder of its --state", f.Folder)
	} else if err != nil {
		return nil, fmt.Errorf("--state: %w", err)
	}
	s := &Served{}
	if err := json.Unmarshal(content, s); err != nil {
		return nil, fmt.Errorf("--state: %s is not what dev writes: %w", File, err)
	}
	return s, nil
}

// Hint adds to the error of a command that found no cluster how to reach what dev serves here.
func Hint(err error) error {
	if _, missing := os.Stat(filepath.Join(Folder, File)); err == nil || missing != nil {
		return err
	}
	return fmt.Errorf("%w; for what \"mcp-admin dev\" serves here, add --state %s", err, Folder)
}

// Token returns the token of a name, with or without its namespace, if it can be used.
func (s *Served) Token(name string) (*Token, error) {
	names := make([]string, len(s.Tokens))
	for i := range s.Tokens {
		t := &s.Tokens[i]
		_, names[i], _ = strings.Cut(t.Name, "/")
		if name != t.Name && name != names[i] {
			continue
		}
		switch {
		case t.Refused != "":
			return nil, fmt.Errorf("MCPToken %s does not work: %s", t.Name, t.Refused)
		case t.Text == "":
			return nil, fmt.Errorf("the text of MCPToken %s is not known here", t.Name)
		}
		return t, nil
	}
	message := fmt.Sprintf("MCPEndpoint %s has no MCPToken %q", s.Endpoint, name)
	if i := spelling.Nearest(name, names); i >= 0 {
		message += fmt.Sprintf("; the nearest is %q", names[i])
	} else if len(names) > 0 {
		message += ", but " + strings.Join(names, ", ")
	}
	return nil, errors.New(message)
}
