package lookup

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/mcp-admin/mcp-admin-operator/server/database"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

func TestMomentsRelativeToNow(t *testing.T) {
	for _, tc := range []struct{ zone, now, text, want string }{
		{"UTC", "2026-03-31T10:20:30.5Z", "", "2026-03-31T10:20:30.5Z"},
		{"UTC", "2026-03-31T10:20:30.5Z", "now", "2026-03-31T10:20:30.5Z"},
		{"UTC", "2026-03-31T10:20:30.5Z", "0d", "2026-03-31T10:20:30.5Z"},
		{"UTC", "2026-03-31T10:20:30.5Z", "0d/d", "2026-03-31T00:00:00Z"},
		{"UTC", "2026-03-31T10:20:30.5Z", "-90s", "2026-03-31T10:19:00.5Z"},
		{"UTC", "2026-03-31T10:20:30.5Z", "+90min", "2026-03-31T11:50:30.5Z"},
		{"UTC", "2026-03-31T10:20:30.5Z", "now-11h", "2026-03-30T23:20:30.5Z"},
		{"UTC", "2026-03-31T10:20:30.5Z", "-1mo", "2026-02-28T10:20:30.5Z"},
		{"UTC", "2024-03-31T10:20:30.5Z", "-1mo", "2024-02-29T10:20:30.5Z"},
		{"UTC", "2024-02-29T00:00:00Z", "-1y", "2023-02-28T00:00:00Z"},
		{"UTC", "2026-03-31T10:20:30.5Z", "+1q", "2026-06-30T10:20:30.5Z"},
		{"UTC", "2026-03-31T10:20:30.5Z", "-1mo/mo", "2026-02-01T00:00:00Z"},
		{"UTC", "2026-03-31T10:20:30.5Z", "/w", "2026-03-30T00:00:00Z"},
		{"UTC", "2026-03-29T10:20:30.5Z", "/w", "2026-03-23T00:00:00Z"},
		{"UTC", "2026-03-31T10:20:30.5Z", "/q", "2026-01-01T00:00:00Z"},
		{"UTC", "2026-03-31T10:20:30.5Z", "-1y/y", "2025-01-01T00:00:00Z"},
		{"UTC", "2026-03-31T10:20:30.5Z", "/h", "2026-03-31T10:00:00Z"},
		{"UTC", "2026-03-31T10:20:30.5Z", "/min", "2026-03-31T10:20:00Z"},
		{"UTC", "2026-03-31T10:20:30.5Z", "/s", "2026-03-31T10:20:30Z"},
		// The clocks of Berlin go on at 01:00 UTC of 29 March 2026: a day keeps the time of day, and 24 hours do not.
		{"Europe/Berlin", "2026-03-29T10:00:00Z", "-1d", "2026-03-28T11:00:00Z"},
		{"Europe/Berlin", "2026-03-29T10:00:00Z", "-24h", "2026-03-28T10:00:00Z"},
		{"Europe/Berlin", "2026-03-29T10:00:00Z", "/d", "2026-03-28T23:00:00Z"},
		{"Europe/Berlin", "2026-03-31T22:30:00Z", "/mo", "2026-03-31T22:00:00Z"},
		{"Asia/Kolkata", "2026-03-31T10:20:30Z", "/h", "2026-03-31T09:30:00Z"},
		// Midnight of 4 November 2018 does not exist in São Paulo.
		{"America/Sao_Paulo", "2018-11-04T12:00:00Z", "/d", "2018-11-04T03:00:00Z"},
	} {
		now, err := time.Parse(time.RFC3339Nano, tc.now)
		if err != nil {
			t.Fatal(err)
		}
		relative, ok := parseRelative(tc.text)
		at, inYears := relative.from(now.In(zone(t, tc.zone)))
		if got := at.UTC().Format(time.RFC3339Nano); !ok || !inYears || got != tc.want {
			t.Errorf("%q at %s in %s is %s, want %s", tc.text, tc.now, tc.zone, got, tc.want)
		}
	}
	for _, text := range []string{"30d", "-30", "-d", "-30D", "-1m", "- 1d", "-1d/", "-1d/d/d", "-1d-1h", "/fortnight", "-1.5h", "yesterday", " -1d", "-1d ", "now now", "-9999999999s"} {
		if _, ok := parseRelative(text); ok {
			t.Errorf("%q is taken for a moment", text)
		}
	}
	for _, text := range []string{"-2027y", "+7974y", "-999999999mo", "+999999999d", "-999999999w"} {
		relative, ok := parseRelative(text)
		if at, inYears := relative.from(time.Date(2026, 3, 31, 0, 0, 0, 0, time.UTC)); !ok || inYears {
			t.Errorf("%q is %v, a year that some engine does not have", text, at)
		}
	}
}

func TestPeriodsThatGroupsName(t *testing.T) {
	for _, tc := range []struct{ zone, text, from, to string }{
		{"UTC", "2026", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"},
		{"UTC", "2026-Q4", "2026-10-01T00:00:00Z", "2027-01-01T00:00:00Z"},
		{"UTC", "2026-02", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"},
		{"UTC", "2026-W01", "2025-12-29T00:00:00Z", "2026-01-05T00:00:00Z"},
		{"UTC", "2020-W53", "2020-12-28T00:00:00Z", "2021-01-04T00:00:00Z"},
		{"UTC", "2024-02-29", "2024-02-29T00:00:00Z", "2024-03-01T00:00:00Z"},
		{"UTC", "2026-04-05T23", "2026-04-05T23:00:00Z", "2026-04-06T00:00:00Z"},
		{"Europe/Berlin", "2026-03", "2026-02-28T23:00:00Z", "2026-03-31T22:00:00Z"},
		{"Europe/Berlin", "2026-03-29", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"},
		{"Europe/Berlin", "2026-03-29T02", "2026-03-29T01:00:00Z", "2026-03-29T01:00:00Z"}, // the clocks skip it
		{"Europe/Berlin", "2026-10-25T02", "2026-10-25T00:00:00Z", "2026-10-25T02:00:00Z"}, // it comes twice
		{"America/Sao_Paulo", "2018-11-04", "2018-11-04T03:00:00Z", "2018-11-05T02:00:00Z"},
		{"Pacific/Apia", "2011-12-30", "2011-12-30T10:00:00Z", "2011-12-30T10:00:00Z"}, // a day that the island does not have
	} {
		p, ok := (Calendar{Zone: zone(t, tc.zone)}).parsePeriod(tc.text)
		from, to := p.from.UTC().Format(time.RFC3339), p.to.UTC().Format(time.RFC3339)
		if !ok || from != tc.from || to != tc.to {
			t.Errorf("%s in %s is from %s to %s, want %s to %s", tc.text, tc.zone, from, to, tc.from, tc.to)
		}
	}
	for _, text := range []string{"", "26", "0000", "2026-13", "2026-00", "2026-1", "2026-Q5", "2026-W54", "2026-W00", "2025-W53", "2026-02-29", "2026-04-05T24", "2026-04-05T1", "20260405", "2026-04-05T10:00"} {
		if p, ok := (Calendar{}).parsePeriod(text); ok {
			t.Errorf("%q is taken for a period from %v", text, p.from)
		}
	}
}

// Each text is refused, or means a moment that every engine's calendar has, at most one unit before the same without rounding.
func FuzzMomentsRelativeToNow(f *testing.F) {
	for _, text := range []string{"", "now", "-30d", "-1mo/mo", "/d", "+7d", "+999999999y", "-1q/q", "now-5min/h", "-1m", "--1d", "/", "-1d/d/d"} {
		f.Add(text, int64(1774952430), "Europe/Berlin")
	}
	f.Add("/d", int64(1541332800), "America/Sao_Paulo")
	f.Add("-1d/d", int64(1325246400), "Pacific/Apia")
	f.Fuzz(func(t *testing.T, text string, second int64, name string) {
		where, err := time.LoadLocation(name)
		if err != nil || second < -62135596800 || second > 253402300799 {
			return
		}
		raw, _ := json.Marshal(map[string]string{"_now": text})
		cal := Calendar{Now: time.Unix(second, 0), Zone: where}
		for _, kind := range []database.Kind{database.Date, database.Timestamp, database.TimestampTZ} {
			c := &database.Column{Kind: kind}
			value, err := cal.withMoments(c, raw)
			if err != nil {
				continue
			}
			if _, err := ParseValue(c, value); err != nil {
				t.Fatalf("%q is %s: %v", text, value, err)
			}
		}
		relative, ok := parseRelative(text)
		if ok != (relativeText.MatchString(text)) {
			t.Fatalf("%q", text)
		}
		if !ok {
			return
		}
		at, inYears := relative.from(cal.Now.In(where))
		exact := relative
		exact.roundsDown = ""
		if moment, _ := exact.from(cal.Now.In(where)); inYears && (at.After(moment) || moment.Sub(at) > 367*24*time.Hour) {
			t.Fatalf("%q at %v is %v, and %v without rounding", text, cal.Now, at, moment)
		}
	})
}

func TestMomentsInOtherWords(t *testing.T) {
	for text, want := range map[string]string{
		"now-30d": "-30d", "now": "now", "NOW()": "now", "today": "/d", "yesterday": "-1d/d", "tomorrow": "+1d/d", "-30d": "-30d", "30 days ago": "-30d",
		"now() - interval '7 days'": "-7d", "last 3 months": "-3mo", "next 2 weeks": "+2w", "now+1h": "+1h", "CURRENT_DATE": "/d", "last month": "-30d",
	} {
		raw, _ := json.Marshal(text)
		got, ok := fromWords(raw)
		if _, isForm := parseRelative(got); !ok || !isForm || got != want {
			t.Errorf("%q is told as %q, want %q", text, got, want)
		}
	}
	for _, text := range []string{"2026-03", "31.12.2026", "March 1", "x", "", "12/31/2026"} {
		raw, _ := json.Marshal(text)
		if got, ok := fromWords(raw); ok {
			t.Errorf("%q is told as %q", text, got)
		}
	}
}
