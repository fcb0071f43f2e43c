// Lock of Consul's Go client, as a participant or as a crowd of waiters:
//
//	go-consul participant ENDPOINT KEY RECIPE ID ROUNDS HOLD_MS [TTL_MS]   see ../../protocol.ts
//	go-consul crowd ENDPOINT KEY WAITERS HOLD_MS                           prints the beginning and the end of each hold
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"

	"github.com/hashicorp/consul/api"
)

func main() {
	args := os.Args[1:]
	run, known := map[string]func([]string) error{"participant": participate, "crowd": crowd}[first(args)]
	if !known {
		fmt.Fprintln(os.Stderr, "usage: go-consul participant|crowd ENDPOINT KEY …")
		os.Exit(2)
	}
	if err := run(args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func first(args []string) string {
	if len(args) == 0 {
		return ""
	}
	return args[0]
}

// Returns a client with connections of its own.
func connect(endpoint string) (*api.Client, error) {
	config := api.DefaultNonPooledConfig()
	config.Address = endpoint
	config.Transport.MaxIdleConnsPerHost = 2
	config.Transport.DisableKeepAlives = false
	return api.NewClient(config)
}

func numbers(texts []string) ([]int, error) {
	found := make([]int, len(texts))
	for i, text := range texts {
		number, err := strconv.Atoi(text)
		if err != nil {
			return nil, err
		}
		found[i] = number
	}
	return found, nil
}

// The channel is closed at the end of the standard input.
func readLines() <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for scanner := bufio.NewScanner(os.Stdin); scanner.Scan(); {
			lines <- scanner.Text()
		}
	}()
	return lines
}
