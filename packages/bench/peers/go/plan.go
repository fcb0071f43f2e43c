package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// What to do and with which numbers, as the command line says it.
type plan struct {
	endpoint, scenario string
	values             map[string]string
	mistakes           []string
}

func readPlan(args []string, endpoint string) (*plan, error) {
	if endpoint == "" {
		return nil, errors.New("ETCD is not set: give the server as host:port")
	}
	if len(args) == 0 {
		return nil, errors.New("usage: peer SCENARIO key=value …")
	}
	values := map[string]string{}
	for _, arg := range args[1:] {
		parts := strings.SplitN(arg, "=", 2)
		if len(parts) != 2 {
			return nil, fmt.Errorf("%q is no key=value", arg)
		}
		values[parts[0]] = parts[1]
	}
	return &plan{endpoint: endpoint, scenario: args[0], values: values}, nil
}

func (p *plan) text(key, otherwise string) string {
	if value, given := p.values[key]; given {
		return value
	}
	return otherwise
}

// At least `least`; what is wrong is told by firstMistake.
func (p *plan) number(key string, otherwise, least int) int {
	value, given := p.values[key]
	if !given {
		return otherwise
	}
	number, err := strconv.Atoi(value)
	if err != nil || number < least {
		p.mistakes = append(p.mistakes, fmt.Sprintf("%s=%s: give a whole number from %d", key, value, least))
		return otherwise
	}
	return number
}

func (p *plan) window() time.Duration {
	return time.Duration(p.number("ms", 2_000, 1)) * time.Millisecond
}

func (p *plan) firstMistake() error {
	if len(p.mistakes) == 0 {
		return nil
	}
	return errors.New(p.mistakes[0])
}
