package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// One line of the history; numbers that may be large are decimal strings.
type event struct {
	T       string `json:"t"`
	ID      string `json:"id"`
	Ev      string `json:"ev"`
	N       int    `json:"n"`
	Order   string `json:"order,omitempty"`
	Token   string `json:"token,omitempty"`
	Key     string `json:"key,omitempty"`
	Value   string `json:"value,omitempty"`
	Message string `json:"message,omitempty"`
}

func write(e event) {
	if e.T == "" {
		e.T = stamp()
	}
	line, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	os.Stdout.Write(append(line, '\n'))
}

// Nanoseconds of CLOCK_MONOTONIC, which all processes of the machine share.
func stamp() string {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		panic(err)
	}
	return strconv.FormatInt(now.Nano(), 10)
}

// The channel is closed at the end of the input.
func readLines(from io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for scanner := bufio.NewScanner(from); scanner.Scan(); {
			lines <- scanner.Text()
		}
	}()
	return lines
}
