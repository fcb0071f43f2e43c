// The client programs in Go, for etcd: peer SCENARIO key=value …, with ETCD=host:port in the environment. See ../../src/peers.ts.
package main

import (
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	given, err := readPlan(args, os.Getenv("ETCD"))
	if err != nil {
		return err
	}
	scenario, known := map[string]func(*plan) (result, error){
		"free": free, "drain": drain, "fresh": fresh, "floor": floor, "chain": chain,
	}[given.scenario]
	if !known {
		return fmt.Errorf("%q is none of free, drain, fresh, floor, chain", given.scenario)
	}
	outcome, err := scenario(given)
	if err == nil {
		say(outcome)
	}
	return err
}
