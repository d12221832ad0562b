// Command greeter is what the test's pods run: it answers with its pod's name and a file's content.
package main

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
)

func main() {
	file := flag.String("file", "", "the file to show")
	count := flag.String("count", "", "a folder in which to count the starts")
	flag.Parse()
	if *count != "" {
		f, err := os.CreateTemp(filepath.Clean(*count), "start-")
		check(err)
		check(f.Close())
	}
	http.HandleFunc("/ready", func(w http.ResponseWriter, _ *http.Request) {
		if _, err := os.Stat(*file); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		}
	})
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		text, err := os.ReadFile(*file)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		fmt.Fprintf(w, "%s %s", os.Getenv("POD_NAME"), text)
	})
	fmt.Println("the greeter serves", *file)
	check(http.ListenAndServe(os.Getenv("POD_IP")+":8080", nil))
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
