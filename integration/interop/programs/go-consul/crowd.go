package main

import (
	"fmt"
	"os"
	"time"
)

// Waiters that each lock the key once, until the standard input ends.
func crowd(args []string) error {
	if len(args) != 4 {
		return fmt.Errorf("usage: crowd ENDPOINT KEY WAITERS HOLD_MS")
	}
	settings, err := numbers(args[2:])
	if err != nil {
		return err
	}
	failed := make(chan error)
	for i := 0; i < settings[0]; i++ {
		go func() {
			if err := holdOnce(args[0], args[1], time.Duration(settings[1])*time.Millisecond); err != nil {
				failed <- err
			}
		}()
	}
	lines := readLines()
	for {
		select {
		case err := <-failed:
			return err
		case _, more := <-lines:
			if !more {
				os.Exit(0)
			}
		}
	}
}

func holdOnce(endpoint, key string, hold time.Duration) error {
	client, err := connect(endpoint)
	if err != nil {
		return err
	}
	lock, err := client.LockKey(key)
	if err != nil {
		return err
	}
	if _, err := lock.Lock(nil); err != nil {
		return err
	}
	from := now()
	time.Sleep(hold)
	// One write, so that lines of several waiters are not mixed.
	os.Stdout.WriteString(fmt.Sprintf("%d %d\n", from, now()))
	return lock.Unlock()
}
