package program

import (
	"bytes"
	"strings"
	"testing"
)

// run calls the program as a file of that name, and returns what it printed.
func run(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	command := New(displayName(args[0]))
	command.SetArgs(arguments(args))
	command.SetOut(&out)
	command.SetErr(&out)
	if err := command.ExecuteContext(t.Context()); err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	return out.String()
}

func TestTheHelpHasTheNameByWhichTheProgramIsCalled(t *testing.T) {
	for file, want := range map[string]string{
		"/usr/local/bin/mcp-admin":             "\n  mcp-admin [command]\n",
		"mcp-admin.exe":                        "\n  mcp-admin [command]\n",
		"/home/me/.krew/bin/kubectl-mcp_admin": "\n  kubectl mcp-admin [command]\n",
	} {
		if help := run(t, file, "--help"); !strings.Contains(help, want) {
			t.Errorf("called as %s, the help lacks %q:\n%s", file, want, help)
		}
	}
}

func TestTheVersionIsToldInEachFormat(t *testing.T) {
	for format, want := range map[string]string{"text": "mcp-admin ", "json": `"version": "`, "yaml": "version: "} {
		if printed := run(t, "mcp-admin", "version", "-o", format); !strings.Contains(printed, want) {
			t.Errorf("-o %s prints %s", format, printed)
		}
	}
}

func TestShellsAndKubectlAreToldHowToComplete(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if script := run(t, "mcp-admin", "completion", shell); !strings.Contains(script, "mcp-admin") {
			t.Errorf("no completion for %s", shell)
		}
	}
	if words := run(t, "kubectl_complete-mcp_admin", "vers"); !strings.HasPrefix(words, "version\t") {
		t.Errorf("kubectl is told %q", words)
	}
}

// Each command tells what it does and shows an example; the groups' examples show the commands that people look for.
func TestEachCommandHasAnExample(t *testing.T) {
	for _, g := range groups() {
		for _, command := range g.commands {
			if command.Short == "" || command.Example == "" {
				t.Errorf("%s: %s has no short description or no example", g.title, command.Name())
			}
		}
	}
}
