/**
 * How a generator shares the processors with what it measures. Woken by every answer, it would push the program that has
 * just sent one off its processor, up to once a request; a caller on another machine does not. As batch work it waits
 * until a processor is free, and keeps its fair share of time.
 */
import { spawnSync } from "node:child_process"

/** Whether this process is batch work from now on: on Linux with util-linux. Elsewhere the load interrupts what it measures. */
export const giveWay = (): boolean =>
  spawnSync("chrt", ["--all-tasks", "--batch", "--pid", "0", String(process.pid)], { stdio: "ignore" }).status === 0
