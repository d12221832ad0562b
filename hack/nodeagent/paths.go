package nodeagent

import (
	"path/filepath"
	"sort"
	"strings"
)

// mounts maps the paths at which a container would see its volumes to the folders where they are. A
// process has no mount namespace of its own, so the paths in its arguments and environment are
// rewritten instead.
type mounts []mount

type mount struct{ at, dir string }

// add keeps the longest path first: of two nested mounts the inner one counts.
func (m mounts) add(at, dir string) mounts {
	m = append(m, mount{at: filepath.Clean(at), dir: dir})
	sort.SliceStable(m, func(i, j int) bool { return len(m[i].at) > len(m[j].at) })
	return m
}

// rewrite replaces each mounted path in a text by its folder: at the text's beginning, after a comma, and after an
// equals sign (--flag=/path). It replaces whole path components only: /data does not match /database.
func (m mounts) rewrite(text string) string {
	if len(m) == 0 || !strings.Contains(text, "/") {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		if i == 0 || text[i-1] == ',' || text[i-1] == '=' {
			if dir, n := m.match(text[i:]); n > 0 {
				b.WriteString(dir)
				i += n
				continue
			}
		}
		b.WriteByte(text[i])
		i++
	}
	return b.String()
}

// match returns the folder for the mount path at the beginning of a text, and that path's length.
func (m mounts) match(text string) (string, int) {
	for _, mount := range m {
		rest, ok := strings.CutPrefix(text, mount.at)
		if ok && mount.at != "/" && (rest == "" || rest[0] == '/' || rest[0] == ',') {
			return mount.dir, len(mount.at)
		}
	}
	return "", 0
}
