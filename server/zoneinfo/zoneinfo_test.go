package zoneinfo

import (
	"testing"
	"time"
)

func TestChangesAreThoseOfTheClocks(t *testing.T) {
	for _, name := range []string{"Europe/Berlin", "America/New_York", "America/St_Johns", "Australia/Lord_Howe", "Africa/Casablanca", "Asia/Kolkata", "Pacific/Apia", "Etc/GMT-14"} {
		zone, ok := Load(name)
		if !ok {
			t.Fatalf("there is no %s", name)
		}
		all := Changes(zone)
		if len(all) > MostChanges {
			t.Errorf("%s has %d changes, more than %d", name, len(all), MostChanges)
		}
		at := 0
		for moment := all[0].At; moment.Year() <= LastYear; moment = moment.Add(97 * time.Minute) {
			for at+1 < len(all) && !moment.Before(all[at+1].At) {
				at++
			}
			if _, offset := moment.In(zone).Zone(); offset != all[at].Offset {
				t.Fatalf("%s at %v: the clocks are %d seconds ahead, and by the changes %d", name, moment, offset, all[at].Offset)
			}
		}
	}
	for _, name := range []string{"", "Local", "Europe/Nowhere", "../etc/passwd", "/etc/localtime", "+02:00"} {
		if _, ok := Load(name); ok {
			t.Errorf("%q is taken for a zone", name)
		}
	}
}
