package main

import "testing"

func TestARowForEachValue(t *testing.T) {
	got, err := table([]byte(`
image:
  # Its name,
  # in two lines.
  name: x
  # Its tag.
  tag: ""
# What it may use.
resources:
  limits: {memory: 1Gi}
# Many.
list: []
`))
	want := "| `image.name` | `x` | Its name, in two lines. |\n" +
		"| `image.tag` | `\"\"` | Its tag. |\n" +
		"| `resources` | `{limits: {memory: 1Gi}}` | What it may use. |\n" +
		"| `list` | `[]` | Many. |\n"
	if err != nil || got != want {
		t.Errorf("%v\n%s\nwant\n%s", err, got, want)
	}
	if _, err := table([]byte("# Well.\na: 1\nb: {c: 2}\n")); err == nil || err.Error() != "b.c has no comment" {
		t.Errorf("a value without a comment: %v", err)
	}
}
