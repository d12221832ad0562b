package nodeagent

import "testing"

func TestRewrite(t *testing.T) {
	m := mounts{}.add("/etc/app", "/pod/volumes/app").add("/etc/app/tls", "/pod/volumes/tls").add("/data/", "/pod/volumes/data").add("/", "/pod/volumes/root")
	for name, test := range map[string]struct{ text, want string }{
		"a file in a mount":           {"/etc/app/config.yaml", "/pod/volumes/app/config.yaml"},
		"the mount itself":            {"/etc/app", "/pod/volumes/app"},
		"the inner of two mounts":     {"/etc/app/tls/tls.crt", "/pod/volumes/tls/tls.crt"},
		"a flag's value":              {"--config=/etc/app/config.yaml", "--config=/pod/volumes/app/config.yaml"},
		"a list":                      {"/etc/app/a,/data/b", "/pod/volumes/app/a,/pod/volumes/data/b"},
		"a list of a flag":            {"--files=/etc/app/a,/data", "--files=/pod/volumes/app/a,/pod/volumes/data"},
		"pairs":                       {"a=/data/x,b=/data/y", "a=/pod/volumes/data/x,b=/pod/volumes/data/y"},
		"a trailing slash of a mount": {"/data", "/pod/volumes/data"},
		"whole components only":       {"/database/x", "/database/x"},
		"not in the middle":           {"/var/data/x", "/var/data/x"},
		"not in a URL":                {"https://example.org/data/x", "https://example.org/data/x"},
		"another path":                {"/usr/bin/true", "/usr/bin/true"},
		"no path":                     {"--verbose", "--verbose"},
		"empty":                       {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := m.rewrite(test.text); got != test.want {
				t.Errorf("rewrite(%q) = %q, want %q", test.text, got, test.want)
			}
		})
	}
}
