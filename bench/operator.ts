/** Operator calls of the benchmark on a service, and waits for their effects. */
import { Agent } from "node:https"
import { setTimeout as pause } from "node:timers/promises"
import type { RunningService } from "./service.ts"
import { textOf } from "./textOf.ts"

const patienceMillis = 120_000

/** Repeats the check until it returns true. */
export const until = async (what: string, done: () => Promise<boolean>, everyMillis = 100): Promise<void> => {
  const patience = performance.now() + patienceMillis
  while (!(await done())) {
    if (performance.now() > patience) throw new Error(`waited in vain until ${what}`)
    await pause(everyMillis)
  }
}

/** Calls the operator surface of a service, and returns the answer as text. */
export const operator = async (service: RunningService, method: "GET" | "POST", path: string, body?: object) => {
  const agent = new Agent({ ca: service.ca })
  try {
    return await textOf(service, agent, { method, path: `/operator/v1${path}`, key: service.operatorKey, body })
  } finally {
    agent.destroy()
  }
}

/** The value of a metric of the service without labels, from `/metrics`. */
export const metricOf = async (service: RunningService, name: string): Promise<number> => {
  const text = await operator(service, "GET", "/metrics")
  const line = text.split("\n").find((each) => each.startsWith(`${name} `))
  if (line === undefined) throw new Error(`there is no figure ${name}`)
  return Number(line.slice(name.length + 1))
}
