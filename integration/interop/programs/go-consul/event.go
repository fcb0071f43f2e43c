package main

import (
	"encoding/json"
	"os"
	"strconv"
	"syscall"
	"unsafe"
)

const clockMonotonic = 1

// One line of the history.
type event struct {
	T       string `json:"t"`
	ID      string `json:"id"`
	Ev      string `json:"ev"`
	N       int    `json:"n"`
	Order   string `json:"order,omitempty"`
	Token   string `json:"token,omitempty"`
	Key     string `json:"key,omitempty"`
	Message string `json:"message,omitempty"`
}

func write(e event) {
	e.T = strconv.FormatInt(now(), 10)
	line, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	os.Stdout.Write(append(line, '\n'))
}

// Nanoseconds of CLOCK_MONOTONIC, which all processes of the machine share.
func now() int64 {
	var spec syscall.Timespec
	if _, _, err := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&spec)), 0); err != 0 {
		panic(err)
	}
	return spec.Nano()
}
