package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
)

// declaringFile matches the names of files that say what licence a module, or a part of it, is under; mainFile those for the
// whole module.
var (
	declaringFile = regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying)([-_.].*)?$`)
	mainFile      = regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying)(\.(md|rst|txt))?$`)
	notInNames    = regexp.MustCompile(`[^0-9A-Za-z.-]+`)
)

// recognized is how much of a file's text, in percent, must come from known licences: as much as pkg.go.dev asks for.
const recognized = 75

// licence returns the licence that a module names at its top, as an SPDX expression. A text for a part that is no known
// licence has a name of its own there, and one for the whole module is an error: somebody has to read it.
func licence(m dependency) (string, error) {
	texts, err := licences(m)
	if err != nil {
		return "", err
	}
	var ids []string
	for _, f := range texts {
		if strings.Contains(f.path, "/") || !declaringFile.MatchString(f.path) {
			continue
		}
		coverage := licensecheck.Scan(f.data)
		if coverage.Percent < recognized {
			if mainFile.MatchString(f.path) {
				return "", fmt.Errorf("module %s %s: only %.0f %% of %s is a known licence: read it, and leave the module out if it must not be passed on",
					m.path, m.version, coverage.Percent, f.path)
			}
			ids = append(ids, "LicenseRef-"+notInNames.ReplaceAllString(f.path, "-"))
			continue
		}
		for _, match := range coverage.Match {
			if !match.IsURL {
				ids = append(ids, match.ID)
			}
		}
	}
	if len(ids) == 0 {
		return "", fmt.Errorf("module %s %s has no licence", m.path, m.version)
	}
	slices.Sort(ids)
	return strings.Join(slices.Compact(ids), " AND "), nil
}
