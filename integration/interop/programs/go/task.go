package main

import (
	"fmt"
	"strconv"
	"time"
)

const defaultTTL = 10 * time.Second

type task struct {
	endpoint, name, recipe, id string
	// 0: until there is nothing more on the standard input.
	rounds int
	// Negative: until a line is read.
	hold time.Duration
	ttl  time.Duration
}

func readTask(args []string) (task, error) {
	if len(args) < 6 || len(args) > 7 {
		return task{}, fmt.Errorf("usage: participant ENDPOINT NAME RECIPE ID ROUNDS HOLD_MS [TTL_MS]")
	}
	numbers := []int{0, 0, int(defaultTTL.Milliseconds())}
	for i, text := range args[4:] {
		number, err := strconv.Atoi(text)
		if err != nil {
			return task{}, err
		}
		numbers[i] = number
	}
	return task{
		endpoint: args[0], name: args[1], recipe: args[2], id: args[3],
		rounds: numbers[0],
		hold:   time.Duration(numbers[1]) * time.Millisecond,
		ttl:    time.Duration(numbers[2]) * time.Millisecond,
	}, nil
}

func (t task) ttlSeconds() int {
	return int((t.ttl + time.Second - 1) / time.Second)
}
